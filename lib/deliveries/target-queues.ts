import type { DueRow } from './delivery-kind.ts';
import type { Lease } from './target-leases.ts';

/** Limits of one process. */
export interface QueueLimits {
  /** Concurrent attempts to one target. */
  perTarget: number;
  /**
   * Concurrent attempts in total. While at least half as many are running, a slow target gets one attempt at
   * a time, so that slow targets cannot use up the limit.
   */
  total: number;
  /** Rows read in advance for a healthy target, so that its next attempt waits for no statement. */
  readAhead: number;
  /** Attempts to one target whose results are not committed yet; a crash repeats them. */
  maxUnsettled: number;
  /** An attempt that takes longer marks its target as slow. */
  slowMs: number;
  /** Rows that were read longer ago are dropped and read again, because the target may have changed. */
  maxAgeMs: number;
}

interface TargetQueue<Row> {
  lease: Lease;
  waiting: { row: Row; readAt: number }[];
  /** Ids whose attempts are running or not committed yet. */
  busy: Set<string>;
  running: number;
  isSlow: boolean;
  isFailing: boolean;
  /** Time of the last failure. Rows of reads that began earlier are dropped. */
  failedAt: number;
  /** Whether more rows may be due than were read. */
  hasMore: boolean;
  lastUsed: number;
}

/** A row to attempt now. @param readAt by `performance.now()`. */
export interface NextRow<Row> {
  row: Row;
  readAt: number;
  lease: Lease;
}

/** Queues of leased targets, served round-robin, so that a long queue delays no other. */
export function createTargetQueues<Row extends DueRow>(limits: QueueLimits) {
  /** The least recently served first. */
  const queues = new Map<string, TargetQueue<Row>>();
  let running = 0;

  function concurrencyOf(queue: TargetQueue<Row>): number {
    if (queue.isFailing || (queue.isSlow && running >= limits.total / 2)) return 1;
    return limits.perTarget;
  }

  function nextOf(queue: TargetQueue<Row>): NextRow<Row> | undefined {
    const oldest = performance.now() - limits.maxAgeMs;
    while (queue.waiting[0] && queue.waiting[0].readAt < oldest) queue.waiting.shift();
    if (queue.running >= concurrencyOf(queue) || queue.busy.size >= limits.maxUnsettled) return undefined;
    const first = queue.waiting.shift();
    return first && { ...first, lease: queue.lease };
  }

  return {
    lease(leases: readonly Lease[]): void {
      for (const lease of leases)
        queues.set(lease.key, {
          lease,
          waiting: [],
          busy: new Set(),
          running: 0,
          isSlow: false,
          isFailing: false,
          failedAt: Number.NEGATIVE_INFINITY,
          hasMore: false,
          lastUsed: performance.now(),
        });
    },

    has: (key: string): boolean => queues.has(key),

    /** @param wanted returned by {@link wanted} before the read. @param readAt when the read began. */
    add(rows: readonly Row[], wanted: readonly { key: string; room: number }[], readAt: number): void {
      const counts = Map.groupBy(rows, ({ targetKey }) => targetKey);
      for (const { key, room } of wanted) {
        const queue = queues.get(key);
        const count = counts.get(key)?.length ?? 0;
        if (queue)
          queue.hasMore = queue.failedAt > readAt || (count > 0 && (queue.isFailing || count === room));
      }
      for (const row of rows) {
        const queue = queues.get(row.targetKey);
        if (!queue || queue.busy.has(row.id) || queue.failedAt > readAt) continue;
        queue.isFailing = row.targetFailures > 0;
        queue.waiting.push({ row, readAt });
      }
    },

    /** Rows to attempt now. */
    take(): NextRow<Row>[] {
      const next: NextRow<Row>[] = [];
      for (let found = true; found && running < limits.total; ) {
        found = false;
        for (const [key, queue] of [...queues]) {
          if (running >= limits.total) break;
          const first = nextOf(queue);
          if (!first) continue;
          queue.running += 1;
          running += 1;
          queue.busy.add(first.row.id);
          queues.delete(key);
          queues.set(key, queue);
          next.push(first);
          found = true;
        }
      }
      return next;
    },

    /** An attempt has ended; its result is not committed yet. @param failed see `isFailure`. */
    ended({ key, fence }: Lease, { ms, failed }: { ms: number; failed: boolean }): void {
      running -= 1;
      const queue = queues.get(key);
      if (!queue || queue.lease.fence !== fence) return;
      queue.running -= 1;
      queue.isSlow = ms > limits.slowMs;
      queue.lastUsed = performance.now();
      if (!failed) return;
      queue.isFailing = true;
      queue.failedAt = performance.now();
      queue.hasMore ||= queue.waiting.length > 0;
      queue.waiting = [];
    },

    /** The result of an attempt was committed or dropped. */
    settled({ key, fence }: Lease, id: string): void {
      const queue = queues.get(key);
      if (queue?.lease.fence === fence) queue.busy.delete(id);
    },

    /** Targets with too few rows, and how many to read for each. */
    wanted(): (Lease & { room: number })[] {
      return [...queues.values()].flatMap(({ lease, waiting, busy, running: now, isFailing }) => {
        const maxRows = isFailing ? 1 : limits.perTarget + limits.readAhead;
        const room = maxRows - waiting.length - now;
        const isLow = waiting.length <= limits.readAhead / 2 && busy.size < limits.maxUnsettled;
        return isLow && room > 0 && !(isFailing && busy.size > 0) ? [{ ...lease, room }] : [];
      });
    },

    /** Ids of rows that are waiting, running, or not committed yet. */
    ids: (): string[] =>
      [...queues.values()].flatMap(({ waiting, busy }) => [...waiting.map(({ row }) => row.id), ...busy]),

    /** Whether more rows of a target should be read. */
    isLow(key: string): boolean {
      const queue = queues.get(key);
      return queue?.hasMore === true && queue.waiting.length <= limits.readAhead / 2;
    },

    leases: (): Lease[] => [...queues.values()].map(({ lease }) => lease),

    /** Removes targets that have been idle for `idleMs`. @returns their leases. */
    removeIdle(idleMs: number): Lease[] {
      const since = performance.now() - idleMs;
      const idle = [...queues.values()].filter(
        ({ waiting, busy, lastUsed }) => waiting.length + busy.size === 0 && lastUsed <= since,
      );
      for (const { lease } of idle) queues.delete(lease.key);
      return idle.map(({ lease }) => lease);
    },

    /** Removes a target whose lease is lost, or whose results cannot be recorded. */
    drop({ key, fence }: Lease): void {
      if (queues.get(key)?.lease.fence === fence) queues.delete(key);
    },

    /** Removes all waiting rows. */
    clear(): void {
      for (const queue of queues.values()) queue.waiting = [];
    },
  };
}
