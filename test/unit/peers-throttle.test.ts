import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { throttle } from '#lib/async/timing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('runs at once, and for all calls within the interval once more at its end', async () => {
  const work = vi.fn(async () => {});
  const { run } = throttle(1_000, work);
  run();
  expect(work).toHaveBeenCalledTimes(1);
  for (let times = 0; times < 50; times += 1) run();
  await vi.advanceTimersByTimeAsync(999);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(work).toHaveBeenCalledTimes(2);
});

it('does not start again while the work is running, but once after it for all calls meanwhile', async () => {
  let finish = () => {};
  const work = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  const { run } = throttle(1_000, work);
  run();
  run();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(1);
  finish();
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(2);
});

it('runs nothing after stop', async () => {
  const work = vi.fn(async () => {});
  const { run, stop } = throttle(1_000, work);
  run();
  run();
  stop();
  await vi.advanceTimersByTimeAsync(5_000);
  run();
  expect(work).toHaveBeenCalledTimes(1);
});
