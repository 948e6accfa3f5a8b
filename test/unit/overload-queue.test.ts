import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Failure } from '#lib/errors/fail.ts';
import { createOverloadGuard, type OverloadGuard, type Place } from '#lib/http/overload-guard.ts';
import type { Priority } from '#lib/http/places.ts';

const waitMs = 1_000;

let guard: OverloadGuard;
let refused: string[];
let waits: { priority: string; ms: number }[];
beforeEach(() => {
  vi.useFakeTimers();
  refused = [];
  waits = [];
  guard = createOverloadGuard({
    limits: { inFlight: 8, delayMs: 0, waitMs },
    readDelay: () => 0,
    metrics: { refused: ({ priority }) => refused.push(priority), waited: (facts) => waits.push(facts) },
  });
});
afterEach(() => {
  vi.useRealTimers();
});

type Asked = { place?: Place; failure?: Failure; response: { destroyed: boolean } };

/** Asks for a place; what came of it is noted when it is known. */
function ask(priority: Priority = 'normal'): Asked {
  const asked: Asked = { response: { destroyed: false } };
  const operation = priority === 'normal' ? {} : { 'x-priority': priority };
  void (async () => guard.admitFor('transactions')(operation, asked.response))().then(
    (place) => {
      asked.place = place;
    },
    (failure) => {
      asked.failure = failure;
    },
  );
  return asked;
}
const askFor = (count: number, priority?: Priority) => Array.from({ length: count }, () => ask(priority));
const settle = () => vi.advanceTimersByTimeAsync(0);
const placesOf = (asked: readonly Asked[]) => asked.filter(({ place }) => place?.isHeld).length;

test('where there is room, a request has its place without waiting for anything', () => {
  expect(guard.admitFor('forms')({})).not.toBeInstanceOf(Promise);
});

test('a burst waits and is served in the order in which it came, as places become free', async () => {
  const burst = askFor(20, 'low');
  await settle();
  expect(placesOf(burst)).toBe(4);
  expect(guard.load().queued.low).toBe(16);
  for (let served = 0; served < 20; served += 1) {
    burst[served]?.place?.leave();
    await settle();
    expect(placesOf(burst)).toBe(Math.min(4, 19 - served));
  }
  expect(refused).toEqual([]);
  expect(guard.load()).toMatchObject({ inFlight: 0, queued: { low: 0 } });
});

test('submissions that wait come before everything else, creations after it', async () => {
  const first = askFor(8, 'high');
  const [create, read, submit] = [ask('low'), ask('normal'), ask('high')];
  await settle();
  first[0]?.place?.leave();
  await settle();
  expect([placesOf([submit]), placesOf([read]), placesOf([create])]).toEqual([1, 0, 0]);
  for (const { place } of first) place?.leave();
  await settle();
  expect(placesOf([create, read])).toBe(2);
});

test('who would wait longer than allowed is refused, and told when to come again', async () => {
  askFor(6);
  const late = ask();
  await vi.advanceTimersByTimeAsync(waitMs - 100);
  expect(late.failure).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(late.failure?.code).toBe('unavailable');
  expect(Number(late.failure?.headers['Retry-After'])).toBeGreaterThan(0);
  expect(refused).toEqual(['normal']);
});

test('a queue that does not go away refuses quickly, and serves the newest first', async () => {
  const working = askFor(6);
  const standing = setInterval(() => ask(), 50);
  await vi.advanceTimersByTimeAsync(waitMs + 100);
  clearInterval(standing);
  const [older, newer] = [ask(), ask()];
  working[0]?.place?.leave();
  await settle();
  expect([placesOf([older]), placesOf([newer])]).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(waitMs / 2);
  expect(older.failure?.code).toBe('unavailable');
});

test('after a calm moment a burst may wait again', async () => {
  const working = askFor(6);
  const standing = setInterval(() => ask(), 50);
  await vi.advanceTimersByTimeAsync(2 * waitMs);
  clearInterval(standing);
  await vi.advanceTimersByTimeAsync(2 * waitMs);
  const patient = ask();
  await vi.advanceTimersByTimeAsync(waitMs / 2);
  working[0]?.place?.leave();
  await settle();
  expect(placesOf([patient])).toBe(1);
});

test('a client that has gone while it waited takes no place, and counts as no refusal', async () => {
  const working = askFor(6);
  const [gone, here] = [ask(), ask()];
  await settle();
  gone.response.destroyed = true;
  working[0]?.place?.leave();
  await settle();
  expect([placesOf([gone]), placesOf([here])]).toEqual([0, 1]);
  expect(refused).toEqual([]);
});

test('how long those waited who were admitted is measured', async () => {
  const working = askFor(6);
  ask();
  await vi.advanceTimersByTimeAsync(300);
  working[0]?.place?.leave();
  await settle();
  expect(waits).toEqual([{ priority: 'normal', ms: 300 }]);
});

test('whatever comes and goes, no limit is passed, all are answered in time, and nothing is left over', async () => {
  const priority = fc.constantFrom<Priority>('high', 'normal', 'low', 'peer');
  const action = fc.oneof(
    fc.record({ kind: fc.constant('ask' as const), priority }),
    fc.record({ kind: fc.constant('leave' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 600 }) }),
  );
  const limits = { high: 8, normal: 6, low: 4, peer: 2 };
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 80 }), async (actions) => {
      const asked: (Asked & { priority: Priority })[] = [];
      const held = () => asked.filter(({ place }) => place?.isHeld);
      for (const one of actions) {
        if (one.kind === 'ask') asked.push(Object.assign(ask(one.priority), { priority: one.priority }));
        else if (one.kind === 'wait') await vi.advanceTimersByTimeAsync(one.ms);
        else if (held().length > 0) held()[one.which % held().length]?.place?.leave();
        await settle();
        const count = (...wanted: Priority[]) =>
          held().filter((each) => wanted.includes(each.priority)).length;
        expect(count('peer')).toBeLessThanOrEqual(limits.peer);
        expect(count('low')).toBeLessThanOrEqual(limits.low);
        expect(count('low', 'normal')).toBeLessThanOrEqual(limits.normal);
        expect(count('low', 'normal', 'high')).toBeLessThanOrEqual(limits.high);
      }
      await vi.advanceTimersByTimeAsync(waitMs + 100);
      expect(asked.every(({ place, failure }) => place ?? failure)).toBe(true);
      for (const { place } of asked) place?.leave();
      expect(guard.load()).toMatchObject({ inFlight: 0, queued: { high: 0, normal: 0, low: 0, peer: 0 } });
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 100 },
  );
});
