import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { gather } from '#lib/db/gather.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('what comes alone is written at once, and what comes soon after it is written together', async () => {
  const write = vi.fn(async (_all: number[]) => {});
  const give = gather(25, write);
  await give(1);
  const written = Promise.all([give(2), give(3)]);
  expect(write.mock.calls).toEqual([[[1]]]);
  await vi.advanceTimersByTimeAsync(25);
  await written;
  expect(write.mock.calls).toEqual([[[1]], [[2, 3]]]);
  await vi.advanceTimersByTimeAsync(25);
  await give(4);
  expect(write).toHaveBeenLastCalledWith([4]);
});

it('whoever gave what could not be written is told, and nobody else', async () => {
  const write = vi.fn(async (all: number[]) => {
    if (all.includes(2)) throw new Error('not now');
  });
  const give = gather(25, write);
  await give(1);
  const told = Promise.allSettled([give(2), give(3)]);
  await vi.advanceTimersByTimeAsync(25);
  expect((await told).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = give(4);
  await vi.advanceTimersByTimeAsync(25);
  await expect(next).resolves.toBeUndefined();
});

it('what comes while something is being written is written together afterwards, and each gets its own result', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const write = vi.fn(async (all: number[]) => {
    await gates[write.mock.calls.length - 1]?.promise;
    return all.map((each) => each * 10);
  });
  const give = gather(0, write);
  const first = Promise.all([give(1), give(2)]);
  await vi.waitFor(() => expect(write.mock.calls).toEqual([[[1, 2]]]));
  const second = Promise.all([give(3), give(4)]);
  gates[0]?.resolve();
  expect(await first).toEqual([10, 20]);
  gates[1]?.resolve();
  expect(await second).toEqual([30, 40]);
  expect(write.mock.calls).toEqual([[[1, 2]], [[3, 4]]]);
});
