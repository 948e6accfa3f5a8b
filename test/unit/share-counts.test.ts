import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shareCounts } from '../../services/transactions/statistics/share-counts.ts';

let now: number;
beforeEach(() => {
  now = 1_000;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // lru-cache keeps the object that it has found when it was loaded.
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  now += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

/** Counts so many rows, which takes so long; says which count it was. */
function countingFor(ms: number, rows: number) {
  let counts = 0;
  const count = shareCounts(async (_wanted: string) => {
    counts += 1;
    const number = counts;
    await new Promise((done) => setTimeout(done, ms));
    return { rows, number };
  });
  return async (wanted: string) => {
    const counted = count(wanted);
    await pass(ms);
    return (await counted).number;
  };
}

describe('a shared count', () => {
  it('is made once for equal requests that arrive while it runs', async () => {
    const count = countingFor(100, 1);
    expect(await Promise.all([count('a'), count('a'), count('b')])).toEqual([1, 1, 2]);
  });

  it('of few rows is made again for the next request', async () => {
    const count = countingFor(100, 9_999);
    expect([await count('a'), await count('a')]).toEqual([1, 2]);
  });

  it('of many rows is reused for thirty times as long as it took', async () => {
    const count = countingFor(100, 10_000);
    expect([await count('a'), await count('a')]).toEqual([1, 1]);
    await pass(3_000);
    expect(await count('a')).toBe(2);
  });

  it('is not reused for more than a minute, however long it took', async () => {
    const count = countingFor(20_000, 1_000_000);
    expect([await count('a'), await count('a')]).toEqual([1, 1]);
    await pass(61_000);
    expect(await count('a')).toBe(2);
  });

  it('that fails is made again for the next request', async () => {
    let counts = 0;
    const count = shareCounts(async (_wanted: string) => {
      counts += 1;
      if (counts === 1) throw new Error('PostgreSQL is away');
      return { rows: 10_000 };
    });
    await expect(count('a')).rejects.toThrow('away');
    expect(await count('a')).toEqual({ rows: 10_000 });
  });
});
