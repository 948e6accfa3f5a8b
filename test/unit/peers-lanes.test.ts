import type { Context } from 'koa';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLanes, type Lanes } from '../../services/peers/handlers/lanes.ts';
import { openGate } from '../support/run/gate.ts';

let sinceOthersMs: number;
let lanes: Lanes;
/** Requests that have their turn, in the order in which they got it. */
let begun: string[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  sinceOthersMs = Number.POSITIVE_INFINITY;
  begun = [];
  lanes = createLanes({ sinceOthersMs: () => sinceOthersMs });
});
afterEach(() => void vi.useRealTimers());

/** A request that is worked on until it is ended. @throws Failure if it is turned away. */
function send(peer: string) {
  const ctx = { state: {} } as Context;
  const gate = openGate();
  lanes.check(peer);
  lanes.enter(ctx, { peer, caller: peer });
  const over = lanes.middleware(ctx, async () => {
    await lanes.turn(ctx);
    begun.push(peer);
    await gate.passed;
  });
  return {
    async end() {
      gate.open();
      await over;
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('while nobody else is served, all that is taken of a peer is worked on at once', async () => {
  for (let count = 0; count < 12; count += 1) send('lab');
  await settled();
  expect(begun).toHaveLength(12);
  expect(() => send('lab')).toThrow('too many requests');
});

it('where others are served, those of a peer are worked on one after the other, and no peer waits for another', async () => {
  sinceOthersMs = 249;
  const first = send('lab');
  const second = send('lab');
  for (let count = 0; count < 2; count += 1) send('lab');
  send('clinic');
  await settled();
  expect(begun).toEqual(['lab', 'clinic']);
  await first.end();
  await settled();
  expect(begun).toEqual(['lab', 'clinic', 'lab']);
  // Nobody has been served for a while: all that wait begin.
  sinceOthersMs = 250;
  await second.end();
  await settled();
  expect(begun).toEqual(['lab', 'clinic', 'lab', 'lab', 'lab']);
});

it('while somebody else waits, turns of a peer begin at a pace, whether they come together or one by one', async () => {
  sinceOthersMs = 0;
  const turnsAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    await settled();
    return begun.length;
  };
  const [first, second] = [send('lab'), send('lab')];
  expect(await turnsAfter(0)).toBe(1);
  await first.end();
  expect(await turnsAfter(19)).toBe(1);
  expect(await turnsAfter(1)).toBe(2);
  await second.end();
  send('lab');
  expect(await turnsAfter(19)).toBe(2);
  expect(await turnsAfter(1)).toBe(3);
});

it('whoever was told to wait is told so for a second, before anything is looked at', () => {
  for (let count = 0; count < 12; count += 1) send('lab');
  expect(() => send('lab')).toThrow('too many requests');
  expect(() => lanes.check('lab')).toThrow('too many requests');
  lanes.check('clinic');
  vi.advanceTimersByTime(1_001);
  lanes.check('lab');
});
