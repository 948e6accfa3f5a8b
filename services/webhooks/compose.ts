import type Koa from 'koa';
import type { Document } from 'openapi-backend';
import {
  authenticateWithoutTransaction,
  createAuthenticator,
  forgetRevokedKeys,
} from '#lib/auth/authenticate.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import type { OverloadGuard } from '#lib/http/admission.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { cors } from '#lib/http/security-headers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createUrlCheck } from '#lib/outbound/targets.ts';
import { createWebhookCommands } from './commands/webhooks.ts';
import { queueEvents } from './consumers/queue-events.ts';
import { createSecretBox } from './domain/secret.ts';
import { createHandlers } from './handlers/webhooks.ts';
import { createOldDeliverySweeper } from './jobs/delete-old.ts';
import { createDeliveryJob } from './jobs/webhook-deliveries.ts';
import { waitingDeliveries } from './queries/deliveries.ts';

interface Options {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  auth: Pick<AuthOperations, 'introspect'>;
  limiter: RateLimiter;
  metrics?: Metrics;
  guard?: OverloadGuard;
  instance: { baseUrl: string };
  settings: {
    corsOrigins: readonly string[];
    trustedProxies: readonly string[];
    /** CIDRs that may be called in addition to the public internet. */
    allowedNetworks: readonly string[];
  };
  /** `webhook-sealing`: the first seals, all open. */
  sealingKeys: readonly Uint8Array[];
}

/** The delivery engine limits requests per endpoint, so a limit per host would only delay other endpoints there. */
const outboundLimits = { perHost: 64, inAll: 64 };

/** Builds and wires the webhooks service. */
export async function composeWebhooks(
  options: Options,
): Promise<{ app: Koa; start(): Promise<void>; stop(): Promise<void> }> {
  const { db, bus, auth, limiter, settings, document, metrics } = options;
  const { baseUrl } = options.instance;
  const log = options.log.child({ service: 'webhooks' });
  const { deadLetters } = eventTables('webhooks', db);
  metrics?.watchTables({ service: 'webhooks', deadLetters, deliveries: () => waitingDeliveries(db) });
  const secrets = createSecretBox(options.sealingKeys);
  const outbound = createOutboundClient({
    allowedNetworks: settings.allowedNetworks,
    limits: outboundLimits,
  });
  const job = createDeliveryJob({ db, outbound, secrets, log, metrics: metrics?.deliveries });
  const sweeper = createOldDeliverySweeper({ db, log });
  queueEvents({ bus, db, wake: job.wake });
  const authenticator = createAuthenticator({
    auth,
    onRefused: limiter.countRefusal,
  });
  forgetRevokedKeys({ bus, service: 'webhooks', authenticator });
  const checkUrl = createUrlCheck({ allowedNetworks: settings.allowedNetworks });
  const refuseTarget = async (url: string) => (await checkUrl(url))?.message;
  const commands = createWebhookCommands({ db, secrets, refuseTarget, wake: job.wake });
  const { routes } = await mountContract({
    document,
    tag: 'webhooks',
    handlers: createHandlers({ db, baseUrl, commands }),
    authenticate: (ctx) => authenticateWithoutTransaction(authenticator, ctx),
    limit: limiter.countRequest,
    admit: options.guard?.admitFor('webhooks'),
  });
  const app = createApp({ service: 'webhooks', metrics, baseUrl, apiVersion: document.info.version, log }, [
    clientAddress(settings.trustedProxies),
    cors({ origins: settings.corsOrigins, openReads: () => false }),
    routes,
  ]);
  return {
    app,
    async start() {
      job.start();
      sweeper.start();
    },
    async stop() {
      await sweeper.stop();
      await job.stop();
    },
  };
}
