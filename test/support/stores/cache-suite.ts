import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Cache } from '#lib/cache/cache.ts';
import type { Counters } from '#lib/cache/counters.ts';

/** What whoever keeps something may rely on, whichever adapter keeps it. */
export function describeCache(where: string, cache: () => Cache): void {
  describe(`a cache ${where}`, () => {
    test('gives back what was put in, and how long it still has', async () => {
      const key = randomUUID();
      await cache().set(key, 'välue', 5_000);
      const found = await cache().get(key);
      expect(found?.value).toBe('välue');
      expect(found?.remainingMs).toBeGreaterThan(4_000);
      expect(found?.remainingMs).toBeLessThanOrEqual(5_000);
    });

    test('has nothing under a key that nobody has used, or that was deleted', async () => {
      const key = randomUUID();
      expect(await cache().get(key)).toBeUndefined();
      await cache().set(key, 'value', 5_000);
      await cache().delete(key);
      await cache().delete(key);
      expect(await cache().get(key)).toBeUndefined();
    });

    test('forgets in time, and a newer value has its own time', async () => {
      const [key, renewed] = [randomUUID(), randomUUID()];
      await cache().set(key, 'short', 50);
      await cache().set(renewed, 'short', 50);
      await cache().set(renewed, 'long', 5_000);
      await expect.poll(() => cache().get(key)).toBeUndefined();
      expect((await cache().get(renewed))?.value).toBe('long');
    });
  });
}

/** What a limit may rely on, whichever adapter counts. */
export function describeCounters(where: string, counters: () => Counters): void {
  describe(`limits counted ${where}`, () => {
    const limit = (points: number, seconds = 60) => counters()({ name: randomUUID(), points, seconds });

    test('let so many through, then tell how long to wait', async () => {
      const counter = limit(3);
      for (let time = 0; time < 3; time += 1) expect(await counter.count('ann')).toBeUndefined();
      const waitMs = await counter.count('ann');
      expect(waitMs).toBeGreaterThan(50_000);
      expect(waitMs).toBeLessThanOrEqual(60_000);
    });

    test('are counted for each one alone, and for each limit alone', async () => {
      const [one, other] = [limit(1), limit(1)];
      await one.count('ann');
      expect(await one.count('ann')).toBeGreaterThan(0);
      expect(await one.count('bob')).toBeUndefined();
      expect(await other.count('ann')).toBeUndefined();
    });

    test('hold for those who come at the same moment', async () => {
      const counter = limit(5);
      const waits = await Promise.all(Array.from({ length: 20 }, () => counter.count('ann')));
      expect(waits.filter((wait) => wait === undefined).length).toBe(5);
    });

    test('take back what was counted by mistake', async () => {
      const counter = limit(1);
      await counter.count('ann');
      await counter.takeBack('ann');
      expect(await counter.count('ann')).toBeUndefined();
    });

    test('begin anew when their time is over', async () => {
      const counter = limit(1, 1);
      await counter.count('ann');
      expect(await counter.count('ann')).toBeGreaterThan(0);
      await expect.poll(() => counter.count('ann'), { timeout: 3_000, interval: 300 }).toBeUndefined();
    });
  });
}
