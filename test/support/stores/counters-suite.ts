import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Counters } from '#lib/cache/counters.ts';

/** The promises of counters, whichever adapter is used. */
export function describeCounters(where: string, counters: () => Counters): void {
  describe(`counters ${where}`, () => {
    const limit = (points: number, seconds = 60) => counters()({ name: randomUUID(), points, seconds });

    test('allow as many as the limit, then tell how long to wait', async () => {
      const counter = limit(3);
      for (let time = 0; time < 3; time += 1) expect(await counter.count('ann')).toBeUndefined();
      const waitMs = await counter.count('ann');
      expect(waitMs).toBeGreaterThan(50_000);
      expect(waitMs).toBeLessThanOrEqual(60_000);
    });

    test('count each key and each limit separately', async () => {
      const [one, other] = [limit(1), limit(1)];
      await one.count('ann');
      expect(await one.count('ann')).toBeGreaterThan(0);
      expect(await one.count('bob')).toBeUndefined();
      expect(await other.count('ann')).toBeUndefined();
    });

    test('hold for concurrent requests', async () => {
      const counter = limit(5);
      const waits = await Promise.all(Array.from({ length: 20 }, () => counter.count('ann')));
      expect(waits.filter((wait) => wait === undefined).length).toBe(5);
    });

    test('uncount an action', async () => {
      const counter = limit(1);
      await counter.count('ann');
      await counter.takeBack('ann');
      expect(await counter.count('ann')).toBeUndefined();
    });

    test('start again after their window', async () => {
      const counter = limit(1, 1);
      await counter.count('ann');
      expect(await counter.count('ann')).toBeGreaterThan(0);
      await expect.poll(() => counter.count('ann'), { timeout: 3_000, interval: 300 }).toBeUndefined();
    });
  });
}
