import type { DueRow } from './delivery-kind.ts';
import type { Lease } from './target-leases.ts';

/** Limits of one process. */
export interface QueueLimits {
  /** Concurrent attempts to one target. */
  perTarget: number;
  /** Concurrent attempts. Once half of them are in use, slow targets get one each, so that they cannot take all. */
  total: number;
  /** Rows read in advance for a target that works, so that its next attempt waits for no statement. */
  readAhead: number;
  /** Attempts to one target whose results are not committed yet: a crash repeats them. */
  maxUnsettled: number;
  /** An attempt that takes longer marks its target as slow. */
  slowMs: number;
  /** A row that was read longer ago is dropped and read again: the target may have changed. */
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
  /** More may be due than was read. */
  hasMore: boolean;
  lastUsed: number;
}

/** A row whose turn it is. Times are of `performance.now()`. */
export interface NextRow<Row> {
  row: Row;
  readAt: number;
  lease: Lease;
}

/** Rows of leased targets, and whose turn it is: round-robin over targets, so that a long queue delays no other. */
export function createTargetQueues<Row extends DueRow>(limits: QueueLimits) {
  /** In the order of turns: the first was served longest ago. */
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
          ...{
            lease,
            waiting: [],
            busy: new Set(),
            running: 0,
            isSlow: false,
            isFailing: false,
            hasMore: false,
          },
          lastUsed: performance.now(),
        });
    },

    /** @param wanted what {@link wanted} said before. @param readAt when the rows were read, or before. */
    add(rows: readonly Row[], wanted: readonly { key: string; room: number }[], readAt: number): void {
      const counts = Map.groupBy(rows, ({ targetKey }) => targetKey);
      for (const { key, room } of wanted) {
        const queue = queues.get(key);
        const count = counts.get(key)?.length ?? 0;
        if (queue) queue.hasMore = count > 0 && (queue.isFailing || count === room);
      }
      for (const row of rows) {
        const queue = queues.get(row.targetKey);
        if (!queue || queue.busy.has(row.id)) continue;
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

    /** An attempt has ended; its result is not committed yet. @param failed the target failed: it gets one delivery at a time. */
    ended({ key, fence }: Lease, { ms, failed }: { ms: number; failed: boolean }): void {
      running -= 1;
      const queue = queues.get(key);
      if (!queue || queue.lease.fence !== fence) return;
      queue.running -= 1;
      queue.isSlow = ms > limits.slowMs;
      queue.lastUsed = performance.now();
      if (!failed) return;
      queue.isFailing = true;
      queue.hasMore ||= queue.waiting.length > 0;
      queue.waiting = [];
    },

    /** The result of an attempt is committed, or will never be. */
    settled({ key, fence }: Lease, id: string): void {
      const queue = queues.get(key);
      if (queue?.lease.fence === fence) queue.busy.delete(id);
    },

    /** How many rows to read for each target; none for those that have enough. */
    wanted(): (Lease & { room: number })[] {
      return [...queues.values()].flatMap(({ lease, waiting, busy, running: now, isFailing }) => {
        const most = isFailing ? 1 : limits.perTarget + limits.readAhead;
        const room = most - waiting.length - now;
        const isLow = waiting.length <= limits.readAhead / 2 && busy.size < limits.maxUnsettled;
        return isLow && room > 0 && !(isFailing && busy.size > 0) ? [{ ...lease, room }] : [];
      });
    },

    /** Ids that this process has: waiting, running, or not committed yet. */
    ids: (): string[] =>
      [...queues.values()].flatMap(({ waiting, busy }) => [...waiting.map(({ row }) => row.id), ...busy]),

    /** Whether more is to be read for a target. */
    isLow(key: string): boolean {
      const queue = queues.get(key);
      return queue?.hasMore === true && queue.waiting.length <= limits.readAhead / 2;
    },

    leases: (): Lease[] => [...queues.values()].map(({ lease }) => lease),

    /** Removes targets without anything to do since `idleMs`. @returns their leases. */
    removeIdle(idleMs: number): Lease[] {
      const since = performance.now() - idleMs;
      const idle = [...queues.values()].filter(
        ({ waiting, busy, lastUsed }) => waiting.length + busy.size === 0 && lastUsed <= since,
      );
      for (const { lease } of idle) queues.delete(lease.key);
      return idle.map(({ lease }) => lease);
    },

    /** Forgets a target whose lease is lost, or whose results cannot be recorded. */
    drop({ key, fence }: Lease): void {
      if (queues.get(key)?.lease.fence === fence) queues.delete(key);
    },

    /** Forgets all waiting rows. */
    clear(): void {
      for (const queue of queues.values()) queue.waiting = [];
    },
  };
}
