import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAddresses } from '#lib/internal/internal-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('replicas are called in turn', () => {
  const addresses = createAddresses(['a', 'b', 'c']);
  expect(Array.from({ length: 4 }, () => addresses.order().join(''))).toEqual(['bca', 'cab', 'abc', 'bca']);
});

test('one that does not answer comes last, for longer each time, until it answers', () => {
  const addresses = createAddresses(['a', 'b']);
  const firstOf = () => [addresses.order()[0], addresses.order()[0]].sort().join('');
  for (const seconds of [2, 4, 8, 16, 16]) {
    addresses.avoid('a');
    addresses.avoid('a'); // A call that was under way at the same time.
    vi.advanceTimersByTime(seconds * 1_000 - 1);
    expect(firstOf(), `${seconds} s`).toBe('bb');
    vi.advanceTimersByTime(1);
    expect(firstOf(), `${seconds} s`).toBe('ab');
  }
  addresses.trust('a');
  addresses.avoid('a');
  vi.advanceTimersByTime(2_000);
  expect(firstOf()).toBe('ab');
});

test('when none answers, the one that failed first is tried first', () => {
  const addresses = createAddresses(['a', 'b']);
  addresses.avoid('b');
  vi.advanceTimersByTime(500);
  addresses.avoid('a');
  expect(addresses.order()).toEqual(['b', 'a']);
  expect(addresses.order()).toEqual(['b', 'a']);
});
