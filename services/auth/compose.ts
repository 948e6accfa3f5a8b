import type Koa from 'koa';
import type { Document } from 'openapi-backend';
import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import {
  authenticateWithoutTransaction,
  createAuthenticator,
  forgetRevokedKeys,
} from '#lib/auth/authenticate.ts';
import type { Secrets } from '#lib/config/secrets.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { admitRequests, type OverloadGuard } from '#lib/http/admission.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { cors } from '#lib/http/security-headers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import type { AuthSettings } from './config.ts';
import { createKeyedHash, type KeyedHash } from './domain/api-keys.ts';
import { createHandlers } from './handlers/keys.ts';
import { composeIssuer, type Issuer } from './issuer/compose-issuer.ts';
import { createIntrospection, createKeyVerifier } from './operations/introspection.ts';
import { createPairingKeys } from './operations/pairing-keys.ts';
import { deleteExpiredItems } from './queries/issuer-items.ts';
import { deleteOldAttempts } from './queries/sign-in-attempts.ts';
import { createOutsideVerifier, createOwnVerifier } from './tokens/verifiers.ts';

export interface AuthOptions {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  limiter: RateLimiter;
  metrics?: Metrics;
  guard?: OverloadGuard;
  instance: { name: string; baseUrl: string };
  settings: AuthSettings & { corsOrigins: readonly string[]; trustedProxies: readonly string[] };
  secrets: Pick<Secrets, 'keyPepper' | 'issuerCookies' | 'issuerSigning'>;
}

/** The auth service. */
export interface AuthService {
  app: Koa;
  operations: AuthOperations;
  /** Path prefixes that it serves. */
  prefixes: readonly string[];
  /** @returns a link that creates the first administrator, if there is no account yet. */
  start(): Promise<string | undefined>;
  stop(): Promise<void>;
}

interface AppParts {
  operations: AuthOperations;
  keyedHash: KeyedHash;
  issuer: Issuer | undefined;
  wake: () => void;
}

/** Builds and wires the auth service. */
export async function composeAuth(options: AuthOptions): Promise<AuthService> {
  const { db, bus, settings, secrets } = options;
  const log = options.log.child({ service: 'auth' });
  options.metrics?.watchTables(eventTables('auth', db));
  const relay = createOutboxRelay({ db, bus, log, metrics: options.metrics?.events });
  const sweeper = createExpirySweeper({ db, log });
  const keyedHash = createKeyedHash(secrets.keyPepper);
  const keys = createKeyVerifier({ db, keyedHash, log });
  const operations: AuthOperations = {
    introspect: createIntrospection({ keys, tokens: tokenVerifier(options) }),
    ...createPairingKeys({ db, keyedHash }),
  };
  const issuer = settings.outsideIssuer ? undefined : await composeIssuer({ ...options, keyedHash, log });
  const app = await composeApp(options, { operations, keyedHash, issuer, wake: relay.wake });
  return {
    app,
    operations,
    prefixes: [...new Set(['/keys', '/user', '/auth', ...(issuer ? [issuer.path] : [])])],
    async start() {
      const setupLink = await issuer?.openSetupLink();
      relay.start();
      sweeper.start();
      return setupLink;
    },
    async stop() {
      await sweeper.stop();
      await keys.settle();
      await relay.stop();
    },
  };
}

async function composeApp(options: AuthOptions, parts: AppParts): Promise<Koa> {
  const { db, bus, document, limiter, settings, log } = options;
  const { baseUrl } = options.instance;
  const { operations, keyedHash, issuer, wake } = parts;
  const admit = options.guard?.admitFor('auth');
  const authenticator = createAuthenticator({
    auth: operations,
    onRefused: limiter.countRefusal,
  });
  forgetRevokedKeys({ bus, service: 'auth', authenticator });
  const { routes } = await mountContract({
    document,
    tag: 'auth',
    handlers: createHandlers({ db, keyedHash, baseUrl, wake }),
    authenticate: (ctx) => authenticateWithoutTransaction(authenticator, ctx),
    limit: limiter.countRequest,
    admit,
  });
  const { renderErrorPage, intake = [], middleware = [] } = issuer ?? {};
  const app = createApp(
    {
      service: 'auth',
      baseUrl,
      apiVersion: document.info.version,
      log,
      metrics: options.metrics,
      renderErrorPage,
    },
    [
      clientAddress(settings.trustedProxies),
      cors({ origins: settings.corsOrigins, openReads: () => false }),
      ...intake,
      // The issuer's paths are not in the contract, so they are admitted here.
      admitRequests(admit, ['/auth', issuer?.path ?? '/auth']),
      ...middleware,
      routes,
    ],
  );
  issuer?.prepare(app);
  return app;
}

function tokenVerifier({ settings, instance, secrets, log }: AuthOptions) {
  if (settings.outsideIssuer) return createOutsideVerifier({ ...settings.outsideIssuer, log });
  return createOwnVerifier({
    issuer: settings.authUrl,
    audience: instance.baseUrl,
    keys: secrets.issuerSigning,
    demo: settings.demo,
  });
}

const sweepMs = 5 * 60_000;

/** Deletes expired issuer items and sign-in attempts every five minutes. */
function createExpirySweeper({ db, log }: { db: Database; log: Logger }): RepeatedWork {
  return createRepeatedWork({
    everyMs: sweepMs,
    async work() {
      await deleteExpiredItems(db);
      await deleteOldAttempts(db);
    },
    onError: (error) => log.warn('failed to delete expired rows; retried in 5 minutes', { error }),
  });
}
