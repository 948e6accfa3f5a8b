import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { batchWrites } from '#lib/async/batch-writes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('writes a single item at once and batches items that arrive soon after', async () => {
  const write = vi.fn(async (_all: number[]) => {});
  const add = batchWrites(25, write);
  await add(1);
  const written = Promise.all([add(2), add(3)]);
  expect(write.mock.calls).toEqual([[[1]]]);
  await vi.advanceTimersByTimeAsync(25);
  await written;
  expect(write.mock.calls).toEqual([[[1]], [[2, 3]]]);
  await vi.advanceTimersByTimeAsync(25);
  await add(4);
  expect(write).toHaveBeenLastCalledWith([4]);
});

it('rejects every item of a failed batch and no others', async () => {
  const write = vi.fn(async (all: number[]) => {
    if (all.includes(2)) throw new Error('not now');
  });
  const add = batchWrites(25, write);
  await add(1);
  const outcomes = Promise.allSettled([add(2), add(3)]);
  await vi.advanceTimersByTimeAsync(25);
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = add(4);
  await vi.advanceTimersByTimeAsync(25);
  await expect(next).resolves.toBeUndefined();
});

it('batches items that arrive during a write and returns each its own result', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const write = vi.fn(async (all: number[]) => {
    await gates[write.mock.calls.length - 1]?.promise;
    return all.map((each) => each * 10);
  });
  const add = batchWrites(0, write);
  const first = Promise.all([add(1), add(2)]);
  await vi.waitFor(() => expect(write.mock.calls).toEqual([[[1, 2]]]));
  const second = Promise.all([add(3), add(4)]);
  gates[0]?.resolve();
  expect(await first).toEqual([10, 20]);
  gates[1]?.resolve();
  expect(await second).toEqual([30, 40]);
  expect(write.mock.calls).toEqual([[[1, 2]], [[3, 4]]]);
});
