import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { atMostEvery } from '../../services/peers/jobs/at-most-every.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('what is wanted seldom is done at once; what is wanted often is done once more when its time has come', async () => {
  const work = vi.fn(async () => {});
  const { tell } = atMostEvery(1_000, work);
  tell();
  expect(work).toHaveBeenCalledTimes(1);
  for (let times = 0; times < 50; times += 1) tell();
  await vi.advanceTimersByTimeAsync(999);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(work).toHaveBeenCalledTimes(2);
});

it('what takes long is not begun a second time, and is done again for what was wanted meanwhile', async () => {
  let finish = () => {};
  const work = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  const { tell } = atMostEvery(1_000, work);
  tell();
  tell();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(1);
  finish();
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(2);
});

it('what is stopped is not done any more', async () => {
  const work = vi.fn(async () => {});
  const { tell, stop } = atMostEvery(1_000, work);
  tell();
  tell();
  stop();
  await vi.advanceTimersByTimeAsync(5_000);
  tell();
  expect(work).toHaveBeenCalledTimes(1);
});
