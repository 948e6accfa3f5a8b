import type { Database } from '#lib/db/database.ts';
import { createDeliveryEngine, type DeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/delivery-metrics.ts';
import type { OutboundClient } from '#lib/outbound/outbound-client.ts';
import type { SecretBox } from '../domain/secret.ts';
import { createWebhookDeliveries } from './webhook-deliveries.ts';

interface Parts {
  db: Database;
  outbound: OutboundClient;
  secrets: SecretBox;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
}

/** Sends due deliveries to their endpoints: 4 at a time to one that works, 1 to one that fails, 64 in all. */
export function createDeliveryJob({ db, outbound, secrets, log, metrics }: Parts): DeliveryEngine {
  return createDeliveryEngine({
    db,
    kind: createWebhookDeliveries({ outbound, secrets, log }),
    limits: { perTarget: 4, total: 64, readAhead: 16, maxUnsettled: 32, slowMs: 2_000, maxAgeMs: 2_000 },
    log,
    metrics,
    abortConnections: () => outbound.stop(),
  });
}
