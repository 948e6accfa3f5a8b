import type { Database, Queries } from '#lib/db/database.ts';
import type { AttemptResult, DeliveryKind, DueRow, Ending, Settlement } from './delivery-kind.ts';
import type { Lease, TargetHealth, TargetLeases } from './target-leases.ts';

/** An attempt whose result has to be recorded. */
export interface Attempted<Row, Facts> {
  row: Row;
  lease: Lease;
  result: AttemptResult<Facts>;
  /** Duration in milliseconds. */
  ms: number;
  traceparent?: string | undefined;
}

/**
 * Records attempts in one COMMIT. Results under a lost lease are dropped, because another process repeats the
 * attempts. If the target's generation has changed since the row was read, all results but `done` are
 * dropped, too: the delivery stays due.
 * @returns the ending of each delivery in order; undefined if its result was dropped.
 */
export async function settleAttempts<Row extends DueRow, Facts>(
  {
    db,
    kind,
    leases,
  }: {
    db: Database;
    kind: DeliveryKind<Row, Facts>;
    leases: Pick<TargetLeases<Row>, 'lock' | 'recordHealth'>;
  },
  batch: readonly Attempted<Row, Facts>[],
): Promise<(Ending | undefined)[]> {
  const settle = async (tx: Queries) => {
    const targets = await leases.lock(tx, distinctLeases(batch));
    const counted = batch.filter(({ row, lease, result }) => {
      const target = targets.get(lease.key);
      if (target?.fence !== lease.fence) return false;
      return result.kind === 'done' || target.generation === row.generation;
    });
    const judged = new Map(counted.map((attempted) => [attempted, judge(kind, attempted)]));
    if (counted.length > 0) {
      await kind.settle(tx, [...judged.values()]);
      await leases.recordHealth(tx, changedHealth(kind, counted, targets));
    }
    return batch.map((attempted) => judged.get(attempted)?.ending);
  };
  return db.withTransaction(settle, { indexPlans: true });
}

/** This process may have leased a target again while attempts of an earlier lease were running. */
function distinctLeases(batch: readonly Attempted<unknown, unknown>[]): Lease[] {
  return [...new Map(batch.map(({ lease }) => [`${lease.fence} ${lease.key}`, lease])).values()];
}

/**
 * Whether an attempt failed, on our side or at the target, so that the target's other rows wait. A retry with
 * a given `waitMs` is no failure.
 */
export function isFailure({ kind, ...result }: AttemptResult<unknown>): boolean {
  return kind === 'gone' || (kind === 'retry' && !('waitMs' in result && result.waitMs !== undefined));
}

function judge<Row extends DueRow, Facts>(
  { backoff }: DeliveryKind<Row, Facts>,
  { row, result, ms, traceparent }: Attempted<Row, Facts>,
): Settlement<Row, Facts> {
  const { facts } = result;
  const hasThrown = result.kind === 'retry' && 'thrown' in result;
  const attempted = { row, facts, hasThrown, ms, traceparent };
  if (result.kind !== 'retry') return { ...attempted, ending: result.kind, waitMs: 0 };
  const waitMs = result.waitMs ?? backoff(row.attempts + 1, Math.random(), row);
  if (waitMs === undefined) return { ...attempted, ending: 'expired', waitMs: 0 };
  return { ...attempted, ending: 'retry', waitMs };
}

/**
 * Health of each target after its attempts, if it changed. A failure on our side is not counted, but delays
 * the target by the kind's `targetBackoff`, if any. Deliveries that were not sent change nothing.
 */
function changedHealth<Row extends DueRow, Facts>(
  { targetBackoff }: DeliveryKind<Row, Facts>,
  batch: readonly Attempted<Row, Facts>[],
  targets: ReadonlyMap<string, { failures: number }>,
): TargetHealth[] {
  const health = new Map<string, TargetHealth>();
  for (const { row, lease, result } of batch) {
    if (result.kind === 'obsolete' || (result.kind === 'refused' && result.own)) continue;
    const { key } = lease;
    const before = health.get(key) ?? { key, failures: targets.get(key)?.failures ?? 0, waitMs: 0 };
    const isOwn = result.kind === 'retry' && result.own === true;
    const failures = isOwn ? before.failures : isFailure(result) ? row.targetFailures + 1 : 0;
    const counted = isOwn ? 1 : failures;
    const delay = isFailure(result) ? (targetBackoff?.(counted, Math.random(), result.facts) ?? 0) : 0;
    health.set(key, { key, failures, waitMs: isOwn ? Math.max(delay, before.waitMs) : delay });
  }
  return [...health.values()].filter(
    ({ key, failures, waitMs }) => waitMs > 0 || failures !== targets.get(key)?.failures,
  );
}
