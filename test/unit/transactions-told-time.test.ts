import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createToldTime } from '../../services/transactions/domain/told-time.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('what the database said of the time goes on for a second, and is not known before and afterwards', () => {
  const time = createToldTime();
  expect(time.now()).toBeUndefined();
  time.tell(new Date(5_000));
  vi.advanceTimersByTime(999);
  expect(time.now()).toEqual(new Date(5_999));
  vi.advanceTimersByTime(1);
  expect(time.now()).toBeUndefined();
});
