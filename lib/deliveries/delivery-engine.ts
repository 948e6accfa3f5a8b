import { batchWrites } from '#lib/async/batch-writes.ts';
import { createPollLoop } from '#lib/async/poll-loop.ts';
import { settleWithin } from '#lib/async/timing.ts';
import type { Database } from '#lib/db/database.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { currentTraceparent, runInSpan, type Tracing } from '#lib/observability/tracing.ts';
import type { AttemptResult, DeliveryKind, DueRow, Ending } from './delivery-kind.ts';
import { type Attempted, isFailure, settleAttempts } from './settle-attempts.ts';
import { createTargetLeases, leaseSeconds } from './target-leases.ts';
import { createTargetQueues, type NextRow, type QueueLimits } from './target-queues.ts';

/** Sends due deliveries of one kind from this process. */
export interface DeliveryEngine {
  start(): void;
  /** Call when a delivery has become due. @param targetKey its target; absent: any. */
  wake(targetKey?: string): void;
  /**
   * Waits a short time for running attempts, then aborts the rest. Another process repeats attempts whose
   * results were not committed.
   */
  stop(): Promise<void>;
}

interface Options<Row extends DueRow, Facts> {
  db: Database;
  kind: DeliveryKind<Row, Facts>;
  limits: QueueLimits;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  tracing?: Tracing | undefined;
  /** Closes connections of attempts that ignore their signal. */
  abortConnections?: () => Promise<void>;
}

/** Results within this time share a COMMIT. */
const lingerMs = 20;
/**
 * An idle target keeps its lease this long, so that its next delivery needs no new lease. If this process has
 * all the leases that it may have, an idle target makes room for others at the next claim.
 */
const idleMs = 2_000;
/** Minimum interval between claims of targets. A wake-up for a target without a lease does not wait. */
const claimEveryMs = 250;
/** Outcomes in metrics, by ending; obsolete deliveries are not counted. */
const outcomes = {
  done: 'delivered',
  obsolete: undefined,
  retry: 'failed',
  gone: 'failed',
  refused: 'given-up',
  expired: 'given-up',
} as const;
/** A retry after a valid answer that is not final, such as `open`, counts as delivered. */
function outcomeOf(ending: Ending, result: AttemptResult<unknown>) {
  return ending === 'retry' && !isFailure(result) ? 'delivered' : outcomes[ending];
}

/** `stop` waits for running attempts, and then for their COMMIT, for at most this time each. */
const graceMs = 2_000;

/**
 * Leases targets, reads their due deliveries, attempts them within the limits and records the results, a
 * batch in one COMMIT (ADR 20). Any number of processes may run it. Delivery is at least once: a delivery
 * whose result was not recorded is sent again with the same id.
 */
export function createDeliveryEngine<Row extends DueRow, Facts>(
  options: Options<Row, Facts>,
): DeliveryEngine {
  const { db, kind, limits, log, metrics, tracing } = options;
  const leases = createTargetLeases<Row>(db, { tables: kind.tables, owner: newUuid() });
  const queues = createTargetQueues<Row>(limits);
  const running = new Set<Promise<void>>();
  const abort = new AbortController();
  const loop = createPollLoop({ look });
  let isStopped = false;
  let renewedAt = performance.now();
  let claimedAt = Number.NEGATIVE_INFINITY;

  const settle = batchWrites<Attempted<Row, Facts>, Ending | undefined>(lingerMs, async (batch) => {
    const endings = await settleAttempts({ db, kind, leases }, batch);
    kind.afterSettle?.();
    return endings;
  });

  async function attempt({ row, readAt }: NextRow<Row>): Promise<AttemptResult<Facts> | undefined> {
    const context = { ageMs: performance.now() - readAt, signal: abort.signal };
    try {
      const result = await kind.attempt(row, context);
      return abort.signal.aborted && result.kind === 'retry' ? undefined : result;
    } catch (error) {
      if (abort.signal.aborted) return undefined;
      return { kind: 'retry', own: true, facts: kind.describeError(error), thrown: error };
    }
  }

  const labelOf = (row: Row) => kind.labelOf?.(row) ?? kind.name;

  async function attemptInSpan(
    next: NextRow<Row>,
  ): Promise<Pick<Attempted<Row, Facts>, 'traceparent'> & { result: AttemptResult<Facts> | undefined }> {
    if (!tracing) return { result: await attempt(next) };
    const span = {
      name: `deliver ${labelOf(next.row)}`,
      kind: 'internal',
      ...kind.traceOf?.(next.row),
    } as const;
    return runInSpan(tracing, span, async (fields) => {
      const result = await attempt(next);
      if (result && isFailure(result)) fields.error = result.kind;
      return { result, traceparent: currentTraceparent() };
    });
  }

  async function deliver(next: NextRow<Row>): Promise<void> {
    const { row, lease } = next;
    const began = performance.now();
    const { result, traceparent } = await attemptInSpan(next);
    const ms = performance.now() - began;
    queues.ended(lease, { ms, failed: result !== undefined && isFailure(result) });
    attemptNext();
    if (result) {
      const ending = await settle({ row, lease, result, ms: Math.round(ms), traceparent });
      if (ending && 'thrown' in result)
        log.error(`delivery attempt failed on our side; ${ending === 'retry' ? 'retried' : 'not retried'}`, {
          operation: labelOf(row),
          id: row.id,
          error: result.thrown,
        });
      const outcome = ending && outcomeOf(ending, result);
      if (outcome) metrics?.attempted({ kind: labelOf(row), outcome, ms });
    }
    queues.settled(lease, row.id);
    if (queues.isLow(lease.key)) loop.wake();
    attemptNext();
  }

  function attemptNext(): void {
    if (isStopped) return;
    for (const next of queues.take()) {
      const work = deliver(next)
        .catch((error: unknown) => {
          log.warn('failed to record the result of an attempt; sent again when the lease expires', {
            operation: kind.name,
            id: next.row.id,
            error,
          });
          queues.drop(next.lease);
        })
        .finally(() => running.delete(work));
      running.add(work);
    }
  }

  async function renewLeases(): Promise<void> {
    if (performance.now() - renewedAt < (leaseSeconds * 1000) / 3) return;
    renewedAt = performance.now();
    const held = queues.leases();
    if (held.length === 0) return;
    const kept = await leases.renew(held);
    for (const lease of held) if (!kept.has(lease.key)) queues.drop(lease);
  }

  async function claimTargets(): Promise<number> {
    const room = limits.total - queues.leases().length;
    if (room <= 0 || performance.now() - claimedAt < claimEveryMs) return 0;
    claimedAt = performance.now();
    const claimed = await leases.claim(room);
    queues.lease(claimed);
    return claimed.length;
  }

  /** @returns whether a delivery was due. */
  async function look(): Promise<boolean> {
    try {
      await renewLeases();
      const isFull = queues.leases().length >= limits.total;
      await leases.release(queues.removeIdle(isFull ? claimEveryMs : idleMs));
      const claimed = await claimTargets();
      const wanted = queues.wanted();
      if (wanted.length === 0) return claimed > 0;
      const readAt = performance.now();
      const rows = await leases.readDue(wanted, queues.ids());
      kind.prepare?.(rows);
      queues.add(rows, wanted, readAt);
      attemptNext();
      return rows.length > 0;
    } catch (error) {
      log.warn('failed to lease targets or to read due deliveries; retried at the next poll', {
        operation: kind.name,
        error,
      });
      return false;
    }
  }

  return {
    start: loop.start,
    wake(targetKey) {
      if (targetKey === undefined || !queues.has(targetKey)) claimedAt = Number.NEGATIVE_INFINITY;
      loop.wake();
    },
    async stop() {
      isStopped = true;
      await loop.stop();
      queues.clear();
      await settleWithin(graceMs, Promise.all(running));
      abort.abort();
      await options.abortConnections?.();
      await settleWithin(graceMs, Promise.all(running));
      await leases.release(queues.leases()).catch((error: unknown) => {
        log.warn('failed to release leases; they expire within 25 seconds', { operation: kind.name, error });
      });
    },
  };
}
