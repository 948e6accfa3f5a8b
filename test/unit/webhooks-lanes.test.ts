import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLanes } from '../../services/webhooks/jobs/lanes.ts';
import type { Claim } from '../../services/webhooks/queries/attempts.ts';

const limits = { perWebhook: 2, inAll: 5, slowMs: 2_000, unwritten: 2, waitMs: 8_000 };
const quick = 50;
/** Claims `a1`, `a2`, … of the webhook `a`. */
const claims = (webhook: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: `${webhook}${index + 1}`, webhook, sentAt: 100 },
  })) as Claim[];
const idsOf = (found: readonly Claim[]) => found.map(({ id }) => id).join(' ');

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('what a process has claimed for endpoints', () => {
  it('is sent so many at once to each, in the order in which it was claimed', () => {
    const lanes = createLanes(limits);
    lanes.add(claims('a', 4), performance.now());
    expect(idsOf(lanes.take().next)).toBe('a1 a2');
    expect(idsOf(lanes.take().next)).toBe('');
    lanes.leave('a', quick);
    expect(idsOf(lanes.take().next)).toBe('a3');
    expect(lanes.waiting('a')).toBe(1);
    expect(lanes.held()).toEqual(new Map([['a', 3]]));
  });

  it('is sent in turns when there is not room for all: whose turn was longest ago is next', () => {
    const lanes = createLanes(limits);
    for (const webhook of ['a', 'b', 'c']) lanes.add(claims(webhook, 4), performance.now());
    expect(idsOf(lanes.take().next)).toBe('a1 b1 c1 a2 b2');
    lanes.leave('a', quick);
    // It has had its turn, and the third has one call under way.
    expect(idsOf(lanes.take().next)).toBe('c2');
    lanes.leave('b', quick);
    expect(idsOf(lanes.take().next)).toBe('a3');
  });

  it('is sent one at a time to those that are slow once half of the places are taken, and to the others as ever', () => {
    const lanes = createLanes(limits);
    const slow = ['a', 'b'];
    for (const webhook of slow) lanes.add(claims(webhook, 4), performance.now());
    expect(idsOf(lanes.take().next)).toBe('a1 b1 a2 b2');
    for (const webhook of slow) lanes.leave(webhook, 9_000);
    for (const webhook of slow) lanes.written(webhook);
    lanes.add(claims('c', 3), performance.now());
    expect(idsOf(lanes.take().next)).toBe('a3 c1 c2');
    lanes.leave('b', 9_000);
    expect(idsOf(lanes.take().next)).toBe('b3');
    lanes.leave('b', 9_000);
    lanes.written('b');
    lanes.leave('c', quick);
    expect(idsOf(lanes.take().next)).toBe('c3 b4');
  });

  it('waits while too many calls are over and not written down yet', () => {
    const lanes = createLanes(limits);
    lanes.add(claims('a', 5), performance.now());
    expect(idsOf(lanes.take().next)).toBe('a1 a2');
    lanes.leave('a', quick);
    expect(idsOf(lanes.take().next)).toBe('a3');
    lanes.leave('a', quick);
    expect(idsOf(lanes.take().next)).toBe('');
    lanes.written('a');
    expect(idsOf(lanes.take().next)).toBe('a4');
    expect(lanes.held()).toEqual(new Map([['a', 3]]));
  });

  it('goes back when it has waited for too long, and is dated by when it is sent', () => {
    const lanes = createLanes(limits);
    lanes.add(claims('a', 3), performance.now());
    lanes.add(claims('b', 1), performance.now());
    lanes.take();
    vi.advanceTimersByTime(3_000);
    lanes.add(claims('c', 1), performance.now() - 2_000);
    expect(lanes.take().next).toMatchObject([{ id: 'c1', sentAt: 102 }]);
    vi.advanceTimersByTime(6_000);
    lanes.leave('a', quick);
    const { next, late } = lanes.take();
    expect([idsOf(next), idsOf(late)]).toEqual(['', 'a3']);
  });

  it('is forgotten with its last call', () => {
    const lanes = createLanes(limits);
    lanes.add(claims('a', 3), performance.now());
    lanes.take();
    expect(idsOf(lanes.clear('a'))).toBe('a3');
    expect(idsOf(lanes.clear('b'))).toBe('');
    for (let call = 0; call < 2; call += 1) {
      lanes.leave('a', quick);
      lanes.written('a');
    }
    expect(lanes.held()).toEqual(new Map());
    lanes.add([...claims('a', 1), ...claims('b', 1)], performance.now());
    expect(idsOf(lanes.clearAll())).toBe('a1 b1');
    expect(lanes.held()).toEqual(new Map());
  });
});
