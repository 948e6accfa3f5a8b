import type { Context } from 'koa';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPeerLimiter, type PeerLimiter } from '../../services/peers/handlers/peer-limiter.ts';
import { openGate } from '../support/run/gate.ts';

let sinceOthersMs: number;
let limiter: PeerLimiter;
/** Peers of the started requests, in order. */
let begun: string[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  sinceOthersMs = Number.POSITIVE_INFINITY;
  begun = [];
  limiter = createPeerLimiter({ sinceOthersMs: () => sinceOthersMs });
});
afterEach(() => void vi.useRealTimers());

/** Starts a request, which runs until `end`. @throws Failure if it is rejected. */
function send(peer: string) {
  const ctx = { state: {} } as Context;
  const gate = openGate();
  limiter.check(peer);
  limiter.enter(ctx, { peer, caller: peer });
  const over = limiter.middleware(ctx, async () => {
    await limiter.waitForTurn(ctx);
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

it('runs all admitted requests of a peer at once while no others are served', async () => {
  for (let count = 0; count < 12; count += 1) send('lab');
  await settled();
  expect(begun).toHaveLength(12);
  expect(() => send('lab')).toThrow('too many requests');
});

it('runs one request per peer at a time while others are served, and peers independently of each other', async () => {
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
  // No others were served for a while: all waiting requests start.
  sinceOthersMs = 250;
  await second.end();
  await settled();
  expect(begun).toEqual(['lab', 'clinic', 'lab', 'lab', 'lab']);
});

it('starts requests of a peer at intervals while others wait', async () => {
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

it('rejects a caller for a second after a rejection, before anything else is checked', () => {
  for (let count = 0; count < 12; count += 1) send('lab');
  expect(() => send('lab')).toThrow('too many requests');
  expect(() => limiter.check('lab')).toThrow('too many requests');
  limiter.check('clinic');
  vi.advanceTimersByTime(1_001);
  limiter.check('lab');
});
