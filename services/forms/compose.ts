import type Koa from 'koa';
import type { Document } from 'openapi-backend';
import {
  authenticateWithoutTransaction,
  createAuthenticator,
  forgetRevokedKeys,
} from '#lib/auth/authenticate.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Database } from '#lib/db/database.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import type { OverloadGuard } from '#lib/http/admission.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { cors } from '#lib/http/security-headers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import { seedDemo } from './demo/seed-demo.ts';
import type { Demo, Dependencies } from './handlers/dependencies.ts';
import { createHandlers } from './handlers/handlers.ts';
import { renderErrorPage } from './handlers/pages.ts';
import { createOperations, type PeerRules } from './operations/create-operations.ts';
import { createAssets } from './pages/assets.ts';
import { createPageRenderer } from './pages/page-renderer.ts';

interface Options {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  auth: Pick<AuthOperations, 'introspect'>;
  limiter: RateLimiter;
  metrics?: Metrics;
  guard?: OverloadGuard;
  instance: PageInstance;
  settings: {
    /** INSTANCE_LANGUAGE */
    defaultLanguage: string;
    corsOrigins: readonly string[];
    trustedProxies: readonly string[];
    /** AUTH_URL */
    authUrl: string;
    /** Public client of the built-in issuer, for signing in on /docs; null with an outside issuer. */
    publicClient: string | null;
    peers: PeerRules;
  };
  /** Demo mode: models of the demonstration, and a first page that shows them. */
  demo: Demo | null;
}

/** Composes the forms service: adapters are built and wired here and nowhere else. */
export async function composeForms(options: Options): Promise<{
  app: Koa;
  operations: FormsOperations;
  start(): Promise<void>;
  stop(): Promise<void>;
}> {
  const { db, bus, instance, limiter, settings, document, demo } = options;
  const log = options.log.child({ service: 'forms' });
  options.metrics?.watchTables(eventTables('forms', db));
  const relay = createOutboxRelay({ db, bus, log, metrics: options.metrics?.events });
  const authenticator = createAuthenticator({
    auth: options.auth,
    onRefused: limiter.countRefusal,
  });
  forgetRevokedKeys({ bus, service: 'forms', authenticator });
  const assets = createAssets();
  const renderer = createPageRenderer(assets);
  const { defaultLanguage, authUrl, publicClient } = settings;
  const operations = createOperations({
    ...{ db, log, renderer, instance, defaultLanguage },
    peers: settings.peers,
  });
  const dependencies: Dependencies = {
    ...{ db, source: instance.baseUrl, wake: relay.wake, operations, renderer, assets, document, instance },
    ...{ defaultLanguage, authUrl, publicClient, demo },
  };
  const { routes } = await mountContract({
    document,
    tag: 'forms',
    handlers: createHandlers(dependencies),
    authenticate: (ctx) => authenticateWithoutTransaction(authenticator, ctx),
    limit: limiter.countRequest,
    admit: options.guard?.admitFor('forms'),
  });
  const app = createApp(
    {
      service: 'forms',
      metrics: options.metrics,
      baseUrl: instance.baseUrl,
      apiVersion: document.info.version,
      log,
      renderErrorPage: renderErrorPage(dependencies),
    },
    [
      clientAddress(settings.trustedProxies),
      cors({ origins: settings.corsOrigins, openReads: (path) => path.startsWith('/assets/') }),
      routes,
    ],
  );
  return {
    app,
    operations,
    async start() {
      if (demo) await seedDemo(dependencies);
      relay.start();
    },
    stop: () => relay.stop(),
  };
}
