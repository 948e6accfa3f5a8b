import type Koa from 'koa';
import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { composeAudit } from '#lib/audit/compose-audit.ts';
import type { Secrets } from '#lib/config/secrets.ts';
import type { AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Database } from '#lib/db/database.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { admitRequests } from '#lib/http/admission.ts';
import type { MailTransport } from '#lib/mail/mail-transport.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { createServiceApp, type ServiceParts } from '#lib/runtime/service-app.ts';
import type { AuthSettings } from './config.ts';
import { createKeyedHash } from './domain/api-keys.ts';
import { createAccountHandlers } from './handlers/accounts.ts';
import { createHandlers } from './handlers/keys.ts';
import { composeIssuer } from './issuer/compose-issuer.ts';
import { createIntrospection, createKeyVerifier } from './operations/introspection.ts';
import { createPairingKeys } from './operations/pairing-keys.ts';
import { createIsUnchanged } from './operations/sign-in.ts';
import { deleteOldMailCounts } from './queries/account-mails.ts';
import { deleteExcessItems, deleteExpiredItems } from './queries/issuer-items.ts';
import { deleteExpiredResets } from './queries/setup-links.ts';
import { deleteOldAttempts } from './queries/sign-in-attempts.ts';
import { createOutsideVerifier, createOwnVerifier } from './tokens/verifiers.ts';

export interface AuthOptions extends ServiceParts {
  instance: ServiceParts['instance'] & PageInstance & Pick<Instance, 'language' | 'mailFrom'>;
  /** Sends mails to people with an account; null without a mail server. */
  transport?: MailTransport | null;
  settings: AuthSettings & ServiceParts['settings'];
  secrets: Pick<Secrets, 'keyPepper' | 'issuerCookies' | 'issuerSigning' | 'consoleClient'>;
}

/** The auth service. */
export interface AuthService {
  app: Koa;
  operations: AuthOperations & AuditOperations;
  /** Path prefixes that it serves. */
  prefixes: readonly string[];
  /** @returns a link that creates the first administrator, if there is no account yet. */
  start(): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** Builds and wires the auth service. */
export async function composeAuth(options: AuthOptions): Promise<AuthService> {
  const { db, bus, settings, secrets } = options;
  const { baseUrl } = options.instance;
  const log = options.log.child({ service: 'auth' });
  options.metrics?.watchTables(eventTables('auth', db));
  const relay = createOutboxRelay({ db, bus, log, metrics: options.metrics?.events });
  const sweeper = createExpirySweeper({ db, log });
  const audit = composeAudit({ area: 'auth', db, bus, log, instance: options.instance });
  const keyedHash = createKeyedHash(secrets.keyPepper);
  const keys = createKeyVerifier({ db, keyedHash, log });
  const operations: AuthService['operations'] = {
    ...audit.operations,
    introspect: createIntrospection({ keys, tokens: tokenVerifier(options) }),
    ...createPairingKeys({ db, keyedHash }),
  };
  const issuer = settings.outsideIssuer ? undefined : await composeIssuer({ ...options, keyedHash, log });
  const { renderErrorPage, intake = [], middleware = [] } = issuer ?? {};
  const app = await createServiceApp(options, {
    service: 'auth',
    auth: operations,
    handlers: {
      ...createHandlers({ db, keyedHash, baseUrl, wake: relay.wake, ownAddress: issuer?.ownAddress }),
      ...createAccountHandlers({ db, demo: settings.demo, baseUrl, issuer }),
      listAuthAudit: audit.list,
    },
    renderErrorPage,
    middleware: [
      ...intake,
      // The issuer's paths are not in the contract, so they are admitted here.
      admitRequests(options.guard?.admitFor('auth'), ['/auth', issuer?.path ?? '/auth']),
      ...middleware,
    ],
  });
  issuer?.prepare(app);
  return {
    app,
    operations,
    prefixes: [
      ...new Set(['/accounts', '/keys', '/user', '/auth', '/audit/auth', ...(issuer ? [issuer.path] : [])]),
    ],
    async start() {
      const setupLink = await issuer?.openSetupLink();
      relay.start();
      sweeper.start();
      audit.start();
      issuer?.mails?.start();
      return setupLink;
    },
    async stop() {
      await issuer?.mails?.stop();
      await sweeper.stop();
      await audit.stop();
      await keys.settle();
      await relay.stop();
    },
  };
}

function tokenVerifier({ settings, instance, secrets, log, db }: AuthOptions) {
  if (settings.outsideIssuer) return createOutsideVerifier({ ...settings.outsideIssuer, log });
  return createOwnVerifier({
    issuer: settings.authUrl,
    audience: instance.baseUrl,
    keys: secrets.issuerSigning,
    demo: settings.demo,
    isUnchanged: createIsUnchanged(db),
  });
}

const sweepMs = 5 * 60_000;

/** Deletes expired and excess issuer items, old sign-in attempts and counts of mails every five minutes. */
function createExpirySweeper({ db, log }: { db: Database; log: Logger }): RepeatedWork {
  return createRepeatedWork({
    everyMs: sweepMs,
    async work() {
      await deleteExpiredItems(db);
      await deleteExcessItems(db);
      await deleteOldAttempts(db);
      await deleteOldMailCounts(db);
      await deleteExpiredResets(db);
    },
    onError: (error) => log.warn('failed to delete expired rows; retried in 5 minutes', { error }),
  });
}
