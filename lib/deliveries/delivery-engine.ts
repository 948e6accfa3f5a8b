import { batchWrites } from '#lib/async/batch-writes.ts';
import { createPollLoop } from '#lib/async/poll-loop.ts';
import { settleWithin } from '#lib/async/timing.ts';
import type { Database } from '#lib/db/database.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { AttemptResult, DeliveryKind, DueRow, Ending } from './delivery-kind.ts';
import { type Attempted, settleAttempts } from './settle-attempts.ts';
import { createTargetLeases, leaseSeconds } from './target-leases.ts';
import { createTargetQueues, type NextRow, type QueueLimits } from './target-queues.ts';

/** Sends what is due of one kind, in this process. */
export interface DeliveryEngine {
  start(): void;
  /** Call when something has become due. */
  wake(): void;
  /** Waits for running attempts, then aborts them; what is not committed is attempted again by another process. */
  stop(): Promise<void>;
}

interface Options<Row extends DueRow, Facts> {
  db: Database;
  kind: DeliveryKind<Row, Facts>;
  limits: QueueLimits;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  /** Closes connections of attempts that ignore their signal. */
  abortConnections?: () => Promise<void>;
}

/** Results that come within this time of each other are one COMMIT. */
const lingerMs = 20;
/** A target without deliveries keeps its lease this long, so that the next one does not wait for another lease. */
const idleMs = 2_000;
/** Endings as metrics name them. */
const outcomes = {
  done: 'delivered',
  retry: 'failed',
  gone: 'failed',
  refused: 'given-up',
  expired: 'given-up',
} as const;
/** For running attempts, and again for their COMMIT: less than a process has to stop (lib/runtime/run-process.ts). */
const graceMs = 2_000;

/**
 * Leases targets, reads what is due to them, attempts it within the limits and records the results, each batch in one COMMIT (ADR 20).
 * Any number of processes may run it. Delivery is at least once: what was sent and not recorded is sent again with the same id.
 */
export function createDeliveryEngine<Row extends DueRow, Facts>(
  options: Options<Row, Facts>,
): DeliveryEngine {
  const { db, kind, limits, log, metrics } = options;
  const leases = createTargetLeases<Row>(db, { tables: kind.tables, owner: newUuid() });
  const queues = createTargetQueues<Row>(limits);
  const running = new Set<Promise<void>>();
  const abort = new AbortController();
  const loop = createPollLoop({ look });
  let isStopped = false;
  let renewedAt = performance.now();

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
      log.error('delivery attempt failed on our side; it is retried', {
        operation: kind.name,
        id: row.id,
        error,
      });
      return { kind: 'retry', own: true, facts: kind.describeError(error) };
    }
  }

  async function deliver(next: NextRow<Row>): Promise<void> {
    const { row, lease } = next;
    const began = performance.now();
    const result = await attempt(next);
    const ms = performance.now() - began;
    const failed = result?.kind === 'gone' || (result?.kind === 'retry' && result.waitMs === undefined);
    queues.ended(lease, { ms, failed });
    attemptNext();
    if (result) {
      const ending = await settle({ row, lease, result, ms: Math.round(ms) });
      if (ending)
        metrics?.attempted({ kind: kind.labelOf?.(row) ?? kind.name, outcome: outcomes[ending], ms });
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
          log.warn('failed to record delivery outcome; retried when the lease expires', {
            ...{ operation: kind.name, id: next.row.id, error },
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

  /** @returns whether there was something due. */
  async function look(): Promise<boolean> {
    try {
      await renewLeases();
      await leases.release(queues.removeIdle(idleMs));
      const room = limits.total - queues.leases().length;
      const claimed = room > 0 ? await leases.claim(room) : [];
      queues.lease(claimed);
      const wanted = queues.wanted();
      if (wanted.length === 0) return claimed.length > 0;
      const readAt = performance.now();
      const rows = await leases.readDue(wanted, queues.ids());
      kind.prepare?.(rows);
      queues.add(rows, wanted, readAt);
      attemptNext();
      return rows.length > 0;
    } catch (error) {
      log.warn('failed to read due deliveries; retried at the next poll', { operation: kind.name, error });
      return false;
    }
  }

  return {
    start: loop.start,
    wake: loop.wake,
    async stop() {
      isStopped = true;
      await loop.stop();
      queues.clear();
      await settleWithin(graceMs, Promise.all(running));
      abort.abort();
      await options.abortConnections?.();
      await settleWithin(graceMs, Promise.all(running));
      await leases.release(queues.leases()).catch((error: unknown) => {
        log.warn('failed to release leases; they expire by themselves', { operation: kind.name, error });
      });
    },
  };
}
