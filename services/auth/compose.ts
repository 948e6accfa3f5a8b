import type Koa from 'koa';
import { authenticateWithoutTransaction, createAuthenticator } from '#lib/auth/authenticate.ts';
import { forgetRevokedKeys } from '#lib/auth/forget-revoked-keys.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import { eventTables } from '#lib/events/event-tables.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { admitRequests } from '#lib/http/admit-requests.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { cors } from '#lib/http/cors.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { AuthOptions } from './auth-options.ts';
import { createKeyedHash, type KeyedHash } from './domain/keyed-hash.ts';
import { createHandlers } from './handlers/handlers.ts';
import { composeIssuer, type Issuer } from './issuer/compose-issuer.ts';
import { createExpirySweeper } from './jobs/sweep-expired.ts';
import { createIntrospection } from './operations/create-introspection.ts';
import { createKeyVerifier } from './operations/create-key-verifier.ts';
import { createPairingKeys } from './operations/create-pairing-keys.ts';
import { createOutsideVerifier } from './tokens/create-outside-verifier.ts';
import { createOwnVerifier } from './tokens/create-own-verifier.ts';

/** The auth service, composed. */
export interface AuthService {
  app: Koa;
  operations: AuthOperations;
  /** The paths that it serves, and all below them. */
  prefixes: readonly string[];
  /** @returns after start: the link for the first administrator, if nobody can sign in yet. */
  setupLink(): string | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface AppParts {
  operations: AuthOperations;
  keyedHash: KeyedHash;
  issuer: Issuer | undefined;
  wake: () => void;
}

/** Composes the auth service: adapters are built and wired here and nowhere else. */
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
  let setupLink: string | undefined;
  return {
    app,
    operations,
    prefixes: [...new Set(['/keys', '/user', '/auth', ...(issuer ? [issuer.path] : [])])],
    setupLink: () => setupLink,
    async start() {
      setupLink = await issuer?.openSetupLink();
      relay.start();
      sweeper.start();
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
    shared: options.introspections,
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
      // The issuer is no part of the contract, and a password costs more than most that is.
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
