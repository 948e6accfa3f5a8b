import type { JWK } from 'jose';
import type Koa from 'koa';
import { LRUCache } from 'lru-cache';
import type { Document } from 'openapi-backend';
import { createAuthenticator, forgetRevokedKeys } from '#lib/auth/authenticate.ts';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createInboxSweeper } from '#lib/events/inbox.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import type { OverloadGuard } from '#lib/http/admission.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { cors } from '#lib/http/security-headers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import { followOutcomes } from './consumers/follow-outcomes.ts';
import { createAnswersDigests } from './domain/answers.ts';
import { createReceiptSigner } from './domain/receipt.ts';
import { createTransactionTokens } from './domain/transaction-token.ts';
import { createSubjectAuthentication } from './handlers/authenticate.ts';
import { renderErrorPage } from './handlers/error-page.ts';
import { createHandlers, type Dependencies } from './handlers/handlers.ts';
import { createDeadlineSweeper, createExpiryNotifier, createVerdictSweeper } from './jobs/background-jobs.ts';
import { createOperations } from './operations/create-operations.ts';
import { heldParts } from './queries/peer-parts.ts';

interface Options {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  auth: Pick<AuthOperations, 'introspect'>;
  forms: FormsOperations;
  limiter: RateLimiter;
  metrics?: Metrics;
  guard?: OverloadGuard;
  instance: PageInstance;
  settings: {
    defaultLanguage: string;
    /** CSP sources. */
    embedOrigins: string;
    corsOrigins: readonly string[];
    trustedProxies: readonly string[];
    /** Interval of the sweeper of deadlines; at most 10 s. */
    sweepMs: number;
    /** EXPIRY_NOTICE */
    expiryNoticeDays: number;
  };
  /** First signs, all verify. */
  tokenSecrets: readonly Uint8Array[];
  /** The instance's private signing key (ES256) with its thumbprint. */
  signingKey: JWK & { kid: string };
  /** Private keys that peers seal answers to. */
  sealingKeys: readonly PrivateKey[];
}

/** Composes the transactions service. */
export async function composeTransactions(
  options: Options,
): Promise<{ app: Koa; operations: TransactionsOperations; start(): Promise<void>; stop(): Promise<void> }> {
  const { db, bus, forms, instance, limiter, settings, document } = options;
  const log = options.log.child({ service: 'transactions' });
  options.metrics?.watchTables({ ...eventTables('transactions', db), held: () => heldParts(db) });
  const relay = createOutboxRelay({ db, bus, log, metrics: options.metrics?.events });
  const expiryNoticeMs = settings.expiryNoticeDays * 86_400_000;
  const { wake } = relay;
  const job = { db, log, source: instance.baseUrl, wake, everyMs: settings.sweepMs };
  const jobs = [
    createDeadlineSweeper(job),
    createExpiryNotifier({ ...job, forms, leadMs: expiryNoticeMs }),
    createVerdictSweeper({ db, log }),
    createInboxSweeper({ db, log }),
  ];
  const tokens = createTransactionTokens({ secrets: options.tokenSecrets, baseUrl: instance.baseUrl });
  const authenticator = createAuthenticator({
    auth: options.auth,
    onRefused: limiter.countRefusal,
  });
  forgetRevokedKeys({ bus, service: 'transactions', authenticator });
  const dependencies: Dependencies = {
    db,
    forms,
    knownForms: new LRUCache({ max: 200 }),
    tokens,
    instance,
    signReceipt: createReceiptSigner(options.signingKey),
    digests: createAnswersDigests(options.tokenSecrets),
    defaultLanguage: settings.defaultLanguage,
    embedOrigins: settings.embedOrigins,
    expiryNoticeMs,
    wake,
  };
  followOutcomes({ ...dependencies, bus, log });
  const { routes } = await mountContract({
    document,
    tag: 'transactions',
    handlers: createHandlers(dependencies),
    authenticate: createSubjectAuthentication({ authenticator, tokens, onRefused: limiter.countRefusal }),
    limit: limiter.countRequest,
    admit: options.guard?.admitFor('transactions'),
  });
  const app = createApp(
    {
      service: 'transactions',
      metrics: options.metrics,
      baseUrl: instance.baseUrl,
      apiVersion: document.info.version,
      log,
      renderErrorPage: renderErrorPage(dependencies),
    },
    [
      clientAddress(settings.trustedProxies),
      cors({ origins: settings.corsOrigins, openReads: (path) => path.startsWith('/consents/') }),
      routes,
    ],
  );
  return {
    app,
    operations: createOperations({
      ...dependencies,
      log,
      sealingKeys: options.sealingKeys,
      metrics: options.metrics?.submissions,
    }),
    async start() {
      relay.start();
      for (const { start } of jobs) start();
    },
    async stop() {
      for (const { stop } of jobs) await stop();
      await relay.stop();
    },
  };
}
