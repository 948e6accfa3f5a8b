import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgressWatchdog } from '#lib/events/kafka/consumer-run.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('a consumer that has fallen asleep is noticed, once', () => {
  const standstill = vi.fn();
  createProgressWatchdog(45_000, standstill);
  vi.advanceTimersByTime(44_000);
  expect(standstill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(120_000);
  expect(standstill).toHaveBeenCalledOnce();
});

test('a consumer that does anything at all is left alone', () => {
  const standstill = vi.fn();
  const watchdog = createProgressWatchdog(45_000, standstill);
  for (let minute = 0; minute < 10; minute += 1) {
    vi.advanceTimersByTime(40_000);
    watchdog.note();
  }
  watchdog.stop();
  vi.advanceTimersByTime(120_000);
  expect(standstill).not.toHaveBeenCalled();
});

test('a process that was itself stopped for a while gets a chance to go on', () => {
  const standstill = vi.fn();
  createProgressWatchdog(45_000, standstill);
  vi.advanceTimersByTime(1_000);
  // The steady clock goes on, timers do not.
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
  vi.advanceTimersByTime(10_000);
  expect(standstill).not.toHaveBeenCalled();
});

test('a clock that somebody sets back changes nothing', () => {
  const standstill = vi.fn();
  createProgressWatchdog(45_000, standstill);
  vi.setSystemTime(Date.now() - 600_000);
  vi.advanceTimersByTime(60_000);
  expect(standstill).toHaveBeenCalledOnce();
});
