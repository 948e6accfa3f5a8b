import { createDeliveryEngine, type DeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import { createPeerDeliveries, type PeerDeliveryParts } from './peer-deliveries.ts';

interface Parts extends PeerDeliveryParts {
  /** Closes connections of attempts that are running when the process stops. */
  abortConnections: () => Promise<void>;
}

/** Sends due deliveries to peers: 4 at a time to one that works (docs/federation.md, "Answers on their way"), 1 to one that fails. */
export function createPeerDeliveryJob({ abortConnections, ...parts }: Parts): DeliveryEngine {
  const { db, log, metrics } = parts;
  return createDeliveryEngine({
    ...{ db, log, metrics, abortConnections },
    kind: createPeerDeliveries(parts),
    limits: { perTarget: 4, total: 64, readAhead: 28, maxUnsettled: 64, slowMs: 2_000, maxAgeMs: 1_000 },
  });
}
