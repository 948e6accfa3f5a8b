import type { RequestListener } from 'node:http';
import type { Secrets } from '#lib/config/secrets.ts';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { readEventContract } from '#lib/events/event-contract.ts';
import { createInProcessBus } from '#lib/events/in-process-bus.ts';
import { createFront } from '#lib/http/front.ts';
import { createOverloadGuard } from '#lib/http/overload-guard.ts';
import { createMemoryRateLimiter } from '#lib/http/rate-limits.ts';
import { readContract } from '#lib/http/read-contract.ts';
import { watchEventLoop } from '#lib/observability/event-loop-delay.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { createMetrics } from '#lib/observability/metrics.ts';
import { composeAuth } from './auth/compose.ts';
import { resolveAuthSettings } from './auth/config.ts';
import { createDemoForm } from './demo-form.ts';
import { composeForms } from './forms/compose.ts';
import { composePeers } from './peers/compose.ts';
import type { InstanceSettings } from './settings.ts';
import { composeTransactions } from './transactions/compose.ts';

interface Options {
  settings: InstanceSettings;
  baseUrl: string;
  databaseUrl: string;
  secrets: Secrets;
  log: Logger;
}

const sweepMs = 5_000;
/** The demonstration's accounts, as the first page tells them (decisions.md §12). */
const demoAccounts = ['admin', 'operator', 'user'].map((role) => ({
  username: role,
  password: 'demo',
  role,
}));

/** Composes all services of one process: each has its own pool, what they ask of each other is handed to them. */
export async function composeInstance({ settings, baseUrl, databaseUrl, secrets, log }: Options) {
  const document = readContract(new URL('../openapi.yaml', import.meta.url));
  const pools = Object.fromEntries(
    (['auth', 'forms', 'transactions', 'peers'] as const).map((schema) => [
      schema,
      createPool({ url: databaseUrl, schema, log }),
    ]),
  ) as Record<'auth' | 'forms' | 'transactions' | 'peers', ReturnType<typeof createPool>>;
  const metrics = createMetrics();
  for (const [service, pool] of Object.entries(pools)) metrics.watchPool(service, pool);
  const loop = watchEventLoop();
  const guard = createOverloadGuard({
    limits: { inFlight: settings.MAX_IN_FLIGHT, delayMs: settings.MAX_EVENT_LOOP_DELAY },
    readDelay: loop.read,
    metrics: metrics.http,
  });
  metrics.watchLoad(guard.load);
  const bus = createInProcessBus({
    contract: readEventContract(new URL('../asyncapi.yaml', import.meta.url)),
    log,
    metrics: metrics.events,
  });
  const limiter = createMemoryRateLimiter(settings.RATE_LIMITS);
  const instance = { name: settings.INSTANCE_NAME, baseUrl, timeZone: settings.INSTANCE_TIME_ZONE };
  const authSettings = resolveAuthSettings(settings, {
    baseUrl,
    demo: settings.demo,
    defaultLanguage: settings.INSTANCE_LANGUAGE,
  });
  const { authUrl } = authSettings;
  const hasPasswordGrant = authSettings.outsideIssuer === null && authSettings.passwordGrant;
  const shared = { bus, log, document, limiter, instance, metrics, guard };
  const web = { corsOrigins: settings.CORS_ORIGINS, trustedProxies: settings.TRUSTED_PROXIES };
  const auth = await composeAuth({
    ...shared,
    db: createDatabase({ pool: pools.auth }),
    settings: { ...web, ...authSettings },
    secrets,
  });
  const forms = await composeForms({
    ...shared,
    db: createDatabase({ pool: pools.forms }),
    auth: auth.operations,
    settings: {
      ...web,
      authUrl,
      defaultLanguage: settings.INSTANCE_LANGUAGE,
      publicClient: hasPasswordGrant ? 'accord' : null,
    },
    demo: settings.demo
      ? {
          formUrl: () => createDemoForm(transactions.operations),
          tokenUrl: hasPasswordGrant ? authUrl : null,
          accounts: settings.OIDC_ISSUER ? [] : demoAccounts,
        }
      : null,
  });
  const transactions = await composeTransactions({
    ...shared,
    db: createDatabase({ pool: pools.transactions }),
    auth: auth.operations,
    forms: forms.operations,
    settings: {
      ...web,
      defaultLanguage: settings.INSTANCE_LANGUAGE,
      embedOrigins: settings.EMBED_ORIGINS,
      sweepMs,
    },
    tokenSecrets: secrets.transactionToken,
    signingKey: secrets.instanceSigning[0] as (typeof secrets.instanceSigning)[number],
  });
  const peers = await composePeers({
    ...shared,
    db: createDatabase({ pool: pools.peers }),
    auth: auth.operations,
    forms: forms.operations,
    settings: { ...web, plainLoopback: true },
    signingKeys: secrets.instanceSigning,
    sealingKeys: secrets.instanceSealing,
  });
  return {
    metrics,
    authUrl,
    get setupLink() {
      return auth.setupLink();
    },
    handle: routeByPrefix(
      {
        auth: auth.app.callback(),
        forms: forms.app.callback(),
        transactions: transactions.app.callback(),
        peers: peers.app.callback(),
      },
      auth.prefixes,
    ),
    async isReady(): Promise<boolean> {
      return Promise.all(Object.values(pools).map((pool) => pool.query('SELECT 1'))).then(
        () => true,
        () => false,
      );
    },
    async start() {
      await auth.start();
      await forms.start();
      transactions.start();
      peers.start();
    },
    async stop() {
      await peers.stop();
      await transactions.stop();
      await forms.stop();
      await auth.stop();
      loop.stop();
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

/** The public paths of each service (architecture.md), but auth's, which AUTH_URL is among; `/` is for everything else. */
const prefixes = {
  transactions: [
    '/consents',
    '/transactions',
    '/records',
    '/subjects',
    '/receipts',
    '/stats',
    '/user/records',
  ],
  peers: ['/.well-known/accord', '/peers', '/federation'],
  forms: ['/'],
};

function routeByPrefix(
  handlers: Record<keyof typeof prefixes | 'auth', RequestListener>,
  authPrefixes: readonly string[],
): RequestListener {
  const routes = Object.entries({ ...prefixes, auth: authPrefixes }).flatMap(([service, paths]) =>
    paths.map((prefix) => ({ prefix, handler: handlers[service as keyof typeof handlers] })),
  );
  return createFront(routes);
}
