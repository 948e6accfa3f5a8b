import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/delivery-metrics.ts';
import { waitAfter, waitForDecision } from '../domain/back-off.ts';
import type { Claim, Outcome } from '../domain/delivery.ts';
import { endDelivery, markFailed, postponeDelivery } from '../queries/attempts.ts';

export interface RecordParts {
  db: Database;
  baseUrl: string;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  /** There are events to be sent. */
  wakeRelay: () => void;
}

/** Writes down what became of an attempt: what ends a delivery and what transactions is told of it are one COMMIT. */
export async function recordOutcome(
  parts: RecordParts,
  claim: Claim,
  { outcome, ms }: { outcome: Outcome; ms: number },
): Promise<void> {
  const kind = `peer-${claim.kind}`;
  if (outcome.kind === 'failed') {
    await recordFailure(parts, claim, outcome);
    return parts.metrics?.attempted({ kind, outcome: 'failed', ms });
  }
  if (outcome.kind === 'open')
    await postponeDelivery(parts.db, claim, waitForDecision(claim.attempts + 1, Math.random()));
  else await recordEnd(parts, claim, outcome);
  if (outcome.kind !== 'done') parts.metrics?.attempted({ kind, outcome: 'delivered', ms });
}

async function recordEnd(
  { db, baseUrl, wakeRelay }: RecordParts,
  claim: Claim,
  outcome: Outcome & { kind: 'answered' | 'done' },
): Promise<void> {
  if (outcome.kind === 'done') return void (await endDelivery(db, claim));
  const { receipt, says, tell } = outcome;
  const { sid, url } = claim;
  // If another replica has it because the lease was over, its word counts.
  await endDelivery(db, claim, {
    receipt,
    verdict: says,
    tell: tell && {
      type: 'io.accord.submission.answered.v1',
      source: baseUrl,
      subject: sid,
      data: { submission: sid, peer: url, ...tell },
    },
  });
  if (tell) wakeRelay();
}

async function recordFailure(
  { db, log }: RecordParts,
  claim: Claim,
  { own, error, deadline }: Outcome & { kind: 'failed' },
): Promise<void> {
  const { peer, attempts, failures } = claim;
  await markFailed(db, claim, {
    ...{ own, error, deadline },
    waitMs: waitAfter(attempts + 1, Math.random()),
    peerWaitMs: waitAfter(own ? 1 : failures + 1, Math.random()),
  });
  log.warn(own ? 'a delivery to a peer waits' : 'a delivery to a peer failed; it is tried again', {
    id: peer.id,
    operation: claim.kind,
    count: attempts + 1,
    code: error,
  });
}
