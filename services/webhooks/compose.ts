import type Koa from 'koa';
import { composeAudit } from '#lib/audit/compose-audit.ts';
import type { AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createUrlCheck } from '#lib/outbound/targets.ts';
import { createServiceApp, type ServiceParts } from '#lib/runtime/service-app.ts';
import { createAcknowledge } from './commands/acknowledge-delivery.ts';
import { createWebhookCommands } from './commands/webhooks.ts';
import { queueEvents } from './consumers/queue-events.ts';
import { createAcknowledgementLinks } from './domain/acknowledgement.ts';
import { createWebhookAuthentication } from './handlers/authenticate.ts';
import { createHandlers } from './handlers/webhooks.ts';
import { createOldDeliverySweeper } from './jobs/delete-old.ts';
import { createOverdueSweeper } from './jobs/mark-overdue.ts';
import { createDeliveryJob } from './jobs/webhook-deliveries.ts';
import { listBacklogs, waitingDeliveries } from './queries/deliveries.ts';
import { countOverdue } from './queries/notices.ts';

interface Options extends ServiceParts {
  auth: Pick<AuthOperations, 'introspect'>;
  settings: ServiceParts['settings'] & {
    /** CIDRs that may be called in addition to the public internet. */
    allowedNetworks: readonly string[];
  };
  /** `webhook-sealing`: the first seals, all open. */
  sealingKeys: readonly Uint8Array[];
}

/**
 * The delivery engine limits requests per endpoint, so a limit per host would only delay other endpoints
 * there.
 */
const outboundLimits = { perHost: 64, total: 64 };

/** Webhooks in metrics, those with the longest wait first. */
const maxMeasuredWebhooks = 50;

/** Builds and wires the webhooks service. */
export async function composeWebhooks(
  options: Options,
): Promise<{ app: Koa; operations: AuditOperations; start(): Promise<void>; stop(): Promise<void> }> {
  const { db, bus, settings, metrics, tracing } = options;
  const { baseUrl } = options.instance;
  const log = options.log.child({ service: 'webhooks' });
  metrics?.watchTables({
    ...eventTables('webhooks', db),
    deliveries: () => waitingDeliveries(db),
    webhookBacklogs: () => listBacklogs(db, { limit: maxMeasuredWebhooks }),
    overdueNotices: () => countOverdue(db),
  });
  const secrets = createSecretBox(options.sealingKeys, 'accord webhook secrets');
  const outbound = createOutboundClient({
    allowedNetworks: settings.allowedNetworks,
    limits: outboundLimits,
  });
  const links = createAcknowledgementLinks(options.sealingKeys, baseUrl);
  const relay = createOutboxRelay({ db, bus, log, metrics: metrics?.events });
  const { wake: wakeRelay } = relay;
  const notices = { db, log, source: baseUrl, wakeRelay };
  const job = createDeliveryJob({
    ...notices,
    outbound,
    secrets,
    links,
    metrics: metrics?.deliveries,
    tracing,
  });
  const sweepers = [createOldDeliverySweeper(notices), createOverdueSweeper(notices)];
  const audit = composeAudit({ area: 'webhooks', db, bus, log, instance: options.instance });
  queueEvents({ bus, db, wake: job.wake, wakeRelay });
  const checkUrl = createUrlCheck({ allowedNetworks: settings.allowedNetworks });
  const refuseTarget = async (url: string) => (await checkUrl(url))?.message;
  const commands = createWebhookCommands({ db, secrets, baseUrl, refuseTarget, wake: job.wake });
  const app = await createServiceApp(options, {
    service: 'webhooks',
    auth: options.auth,
    handlers: {
      ...createHandlers({
        db,
        baseUrl,
        commands,
        acknowledge: createAcknowledge({ db, links, baseUrl, wakeRelay }),
        countRefusal: options.limiter.countRefusal,
      }),
      listWebhooksAudit: audit.list,
    },
    authenticate: createWebhookAuthentication,
  });
  return {
    app,
    operations: audit.operations,
    async start() {
      relay.start();
      job.start();
      for (const sweeper of sweepers) sweeper.start();
      audit.start();
    },
    async stop() {
      for (const sweeper of sweepers) await sweeper.stop();
      await audit.stop();
      await job.stop();
      await relay.stop();
    },
  };
}
