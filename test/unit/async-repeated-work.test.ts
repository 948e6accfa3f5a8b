import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRepeatedWork } from '#lib/async/repeated-work.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('an error is reported, and the work is repeated', async () => {
  const onError = vi.fn();
  const work = vi.fn(async () => {});
  work.mockRejectedValueOnce(new Error('not now'));
  const repeated = createRepeatedWork({ everyMs: 1_000, work, onError });
  repeated.start();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(work).toHaveBeenCalledTimes(3);
  expect(onError).toHaveBeenCalledExactlyOnceWith(new Error('not now'));
  await repeated.stop();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(work).toHaveBeenCalledTimes(3);
});

it('work that takes long is never done twice at the same time, and is told when it is to end', async () => {
  let finish = () => {};
  let isStopped = () => false;
  const work = vi.fn((stopped: () => boolean) => {
    isStopped = stopped;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  const repeated = createRepeatedWork({ everyMs: 1_000, work, onError: () => {} });
  repeated.start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(1);
  const asked = repeated.runOnce();
  await vi.advanceTimersByTimeAsync(0);
  expect(work).toHaveBeenCalledTimes(1);
  finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(work).toHaveBeenCalledTimes(2);
  const stopped = repeated.stop();
  expect(isStopped()).toBe(true);
  finish();
  await Promise.all([asked, stopped]);
});
