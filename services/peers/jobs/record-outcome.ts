import type { Database } from '#lib/db/database.ts';
import { gather } from '#lib/db/gather.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/delivery-metrics.ts';
import { waitAfter, waitForDecision } from '../domain/back-off.ts';
import type { Claim, Outcome } from '../domain/delivery.ts';
import { type Ending, endDeliveries, markFailed, postponeDelivery } from '../queries/attempts.ts';

export interface RecordParts {
  db: Database;
  baseUrl: string;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  /** There are events to be sent. */
  wakeRelay: () => void;
}

/** Writes down what became of an attempt, and resolves when that has been done. */
export type RecordOutcome = (claim: Claim, attempt: { outcome: Outcome; ms: number }) => Promise<void>;

/** Answers that come one soon after the other are one COMMIT: so long nobody waits for one. */
const gatherMs = 50;

/** What ends a delivery and what transactions is told of it are one COMMIT. */
export function createOutcomeRecorder(parts: RecordParts): RecordOutcome {
  const { db, baseUrl, metrics, wakeRelay } = parts;
  const end = gather<Ending>(gatherMs, async (endings) => {
    await endDeliveries(db, endings);
    if (endings.some(({ answer }) => answer?.tell)) wakeRelay();
  });

  return async (claim, { outcome, ms }) => {
    const kind = `peer-${claim.kind}`;
    if (outcome.kind === 'failed') {
      await recordFailure(parts, claim, outcome);
      return metrics?.attempted({ kind, outcome: 'failed', ms });
    }
    if (outcome.kind === 'open')
      await postponeDelivery(db, claim, waitForDecision(claim.attempts + 1, Math.random()));
    else await end(endingOf(claim, outcome, baseUrl));
    if (outcome.kind !== 'done') metrics?.attempted({ kind, outcome: 'delivered', ms });
  };
}

function endingOf(claim: Claim, outcome: Outcome & { kind: 'answered' | 'done' }, source: string): Ending {
  if (outcome.kind === 'done') return { claim };
  const { receipt, says, tell } = outcome;
  const { sid, url } = claim;
  const told = tell && {
    type: 'io.accord.submission.answered.v1' as const,
    ...{ source, subject: sid, data: { submission: sid, peer: url, ...tell } },
  };
  return { claim, answer: { receipt, verdict: says, tell: told } };
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
