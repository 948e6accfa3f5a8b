import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPollLoop } from '#lib/async/poll-loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('work is looked for ever more rarely while there is none, and often again as soon as there was some', async () => {
  const look = vi.fn(async () => false);
  const loop = createPollLoop({ look, minMs: 50, maxMs: 200 });
  loop.start();
  for (const [ms, looks] of [
    [99, 1],
    [1, 2],
    [199, 2],
    [1, 3],
    [200, 4],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms);
    expect(look).toHaveBeenCalledTimes(looks);
  }
  look.mockResolvedValueOnce(true);
  await vi.advanceTimersByTimeAsync(200);
  await vi.advanceTimersByTimeAsync(50);
  expect(look).toHaveBeenCalledTimes(6);
  await loop.stop();
});

it('a wake-up during a poll causes another poll', async () => {
  let found = (_is: boolean) => {};
  const look = vi.fn(
    (_wasWoken: boolean) =>
      new Promise<boolean>((resolve) => {
        found = resolve;
      }),
  );
  const loop = createPollLoop({ look });
  loop.start();
  loop.wake();
  found(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(look).toHaveBeenCalledTimes(2);
  found(false);
  await vi.advanceTimersByTimeAsync(0);
  loop.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(look).toHaveBeenCalledTimes(3);
  // The first poll came by itself.
  expect(look.mock.calls).toEqual([[false], [true], [true]]);
  const stopped = loop.stop();
  found(true);
  await stopped;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(look).toHaveBeenCalledTimes(3);
});

it('wake-ups within the linger time share one poll', async () => {
  const look = vi.fn(async () => true);
  const loop = createPollLoop({ look, lingerMs: () => 25 });
  loop.start();
  for (let times = 0; times < 20; times += 1) {
    loop.wake();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(look).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10);
  expect(look).toHaveBeenCalledTimes(2);
  await loop.stop();
});
