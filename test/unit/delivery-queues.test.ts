import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exponentialBackoff, listedBackoff } from '#lib/deliveries/backoff.ts';
import type { DueRow } from '#lib/deliveries/delivery-kind.ts';
import { createTargetQueues, type NextRow } from '#lib/deliveries/target-queues.ts';

const limits = { perTarget: 2, total: 5, readAhead: 8, maxUnsettled: 4, slowMs: 2_000, maxAgeMs: 8_000 };
const quick = { ms: 50, failed: false };

/** Queues with leases of these targets, and the deliveries `a1`, `a2`, … of the target `a`. */
function queuesOf(targets: Record<string, number>, changes: Partial<DueRow> = {}) {
  const queues = createTargetQueues<DueRow>(limits);
  queues.lease(Object.keys(targets).map((key) => ({ key, fence: '1' })));
  for (const [targetKey, count] of Object.entries(targets))
    queues.add(rowsOf(targetKey, count, changes), [{ key: targetKey, room: count }], performance.now());
  return queues;
}

function rowsOf(targetKey: string, count: number, changes: Partial<DueRow> = {}): DueRow[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${targetKey}${index + 1}`,
    attempts: 0,
    targetKey,
    targetFailures: 0,
    generation: '',
    ...changes,
  }));
}

const idsOf = (next: readonly NextRow<DueRow>[]) => next.map(({ row }) => row.id).join(' ');
const lease = (key: string, fence = '1') => ({ key, fence });

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('deliveries of a process', () => {
  it('go to each target within its limit, oldest first', () => {
    const queues = queuesOf({ a: 4 });
    expect(idsOf(queues.take())).toBe('a1 a2');
    expect(idsOf(queues.take())).toBe('');
    queues.ended(lease('a'), quick);
    expect(idsOf(queues.take())).toBe('a3');
  });

  it('go to targets in turns when there are not enough slots for all', () => {
    const queues = queuesOf({ a: 4, b: 4, c: 4 });
    expect(idsOf(queues.take())).toBe('a1 b1 c1 a2 b2');
    queues.ended(lease('a'), quick);
    expect(idsOf(queues.take())).toBe('c2');
  });

  it('go to a slow target one at a time once half of the slots are in use', () => {
    const queues = queuesOf({ a: 4, b: 4 });
    expect(idsOf(queues.take())).toBe('a1 b1 a2 b2');
    for (const key of ['a', 'b']) queues.ended(lease(key), { ms: 9_000, failed: false });
    queues.lease([lease('c')]);
    queues.add(rowsOf('c', 3), [{ key: 'c', room: 3 }], performance.now());
    expect(idsOf(queues.take())).toBe('a3 c1 c2');
  });

  it('that were read before their target failed are dropped and read again', () => {
    const queues = queuesOf({ a: 2 });
    queues.take();
    const readAt = performance.now();
    vi.advanceTimersByTime(1);
    queues.ended(lease('a'), { ms: 50, failed: true });
    queues.add(rowsOf('a', 4), [{ key: 'a', room: 8 }], readAt);
    queues.settled(lease('a'), 'a1');
    queues.settled(lease('a'), 'a2');
    expect(idsOf(queues.take())).toBe('');
    expect(queues.isLow('a')).toBe(true);
  });

  it('go to a failing target one at a time, and rows read in advance are read again', () => {
    const queues = queuesOf({ a: 4 });
    queues.take();
    queues.ended(lease('a'), { ms: 50, failed: true });
    expect(idsOf(queues.take())).toBe('');
    expect(queues.wanted()).toEqual([]);
    queues.ended(lease('a'), quick);
    for (const id of ['a1', 'a2']) queues.settled(lease('a'), id);
    expect(queues.isLow('a')).toBe(true);
    expect(queues.wanted()).toEqual([{ ...lease('a'), room: 1 }]);
  });

  it('wait while too many results of their target are not committed', () => {
    const queues = queuesOf({ a: 6 });
    for (let count = 0; count < 2; count += 1) {
      expect(queues.take()).toHaveLength(2);
      for (let ended = 0; ended < 2; ended += 1) queues.ended(lease('a'), quick);
    }
    expect(idsOf(queues.take())).toBe('');
    queues.settled(lease('a'), 'a1');
    expect(idsOf(queues.take())).toBe('a5');
  });

  it('are read again when they have waited for too long', () => {
    const queues = queuesOf({ a: 3 });
    queues.take();
    vi.advanceTimersByTime(limits.maxAgeMs + 1);
    for (let ended = 0; ended < 2; ended += 1) queues.ended(lease('a'), quick);
    expect(idsOf(queues.take())).toBe('');
    expect(queues.ids()).toEqual(['a1', 'a2']);
  });

  it('keep the lease of their target until it has been idle for a while', () => {
    const queues = queuesOf({ a: 1 });
    queues.take();
    vi.advanceTimersByTime(10_000);
    expect(queues.removeIdle(2_000)).toEqual([]);
    queues.ended(lease('a'), quick);
    queues.settled(lease('a'), 'a1');
    expect(queues.removeIdle(2_000)).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect(queues.removeIdle(2_000)).toEqual([lease('a')]);
    expect(queues.leases()).toEqual([]);
  });

  it('of an earlier lease do not count against a later one of the same target', () => {
    const queues = queuesOf({ a: 4 });
    queues.take();
    queues.drop(lease('a'));
    queues.lease([lease('a', '2')]);
    queues.add(rowsOf('a', 4), [{ key: 'a', room: 4 }], performance.now());
    for (let ended = 0; ended < 2; ended += 1) queues.ended(lease('a', '1'), quick);
    expect(queues.take()).toHaveLength(2);
    queues.settled(lease('a', '1'), 'a1');
    expect(queues.ids()).toContain('a1');
  });

  it('never exceed a limit and never start twice, in whatever order they end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        (counts, choices) => {
          const targets = Object.fromEntries(counts.map((count, index) => [`t${index}-`, count]));
          const queues = queuesOf(targets);
          const running: NextRow<DueRow>[] = [];
          const started = new Set<string>();
          for (;;) {
            for (const next of queues.take()) {
              expect(started.has(next.row.id)).toBe(false);
              started.add(next.row.id);
              running.push(next);
            }
            expect(running.length).toBeLessThanOrEqual(limits.total);
            for (const {
              lease: { key },
            } of running)
              expect(running.filter((each) => each.lease.key === key).length).toBeLessThanOrEqual(
                limits.perTarget,
              );
            const [ended] = running.splice((choices.next().value as number) % Math.max(running.length, 1), 1);
            if (!ended) break;
            queues.ended(ended.lease, quick);
            queues.settled(ended.lease, ended.row.id);
          }
          expect(started.size).toBe(counts.reduce((sum, count) => sum + count, 0));
        },
      ),
    );
  });
});

describe('back-off', () => {
  it('follows its list, with jitter on top, and ends with it', () => {
    const backoff = listedBackoff({ waitsMs: [1_000, 5_000], jitter: 0.1 });
    expect([backoff(1, 0), backoff(2, 0.5), backoff(3, 0)]).toEqual([1_000, 5_250, undefined]);
  });

  it('doubles its bound with each attempt up to the longest wait, with full jitter', () => {
    const backoff = exponentialBackoff({ minMs: 500, maxMs: 60_000 });
    expect([1, 2, 3, 20].map((attempts) => backoff(attempts, 1))).toEqual([1_000, 2_000, 4_000, 60_000]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, random) => {
          const wait = backoff(attempts, random);
          expect(wait).toBeGreaterThanOrEqual(500);
          expect(wait).toBeLessThanOrEqual(60_000);
        },
      ),
    );
  });
});
