import fc from 'fast-check';
import type { Context } from 'koa';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Failure } from '#lib/errors/fail.ts';
import { createOverloadGuard, type OverloadGuard, type Slot, withSlot } from '#lib/http/admission.ts';
import type { Priority } from '#lib/http/admission-limits.ts';

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

type Asked = { slot?: Slot; failure?: Failure; response: { destroyed: boolean } };

/** Requests a slot; the result is filled in when it is known. */
function ask(priority: Priority = 'normal', client = 'one'): Asked {
  const asked: Asked = { response: { destroyed: false } };
  const operation = priority === 'normal' ? {} : { 'x-priority': priority };
  void (async () => guard.admitFor('transactions')(operation, { client, response: asked.response }))().then(
    (slot) => {
      asked.slot = slot;
    },
    (failure) => {
      asked.failure = failure;
    },
  );
  return asked;
}
const askFor = (count: number, priority?: Priority) => Array.from({ length: count }, () => ask(priority));
const settle = () => vi.advanceTimersByTimeAsync(0);
const held = (asked: readonly Asked[]) => asked.filter(({ slot }) => slot?.isHeld).length;

test('admits a request synchronously while there are free slots', () => {
  expect(guard.admitFor('forms')({})).not.toBeInstanceOf(Promise);
});

test('a client waits for its own requests, not for those of a client that has many', async () => {
  const greedy = Array.from({ length: 40 }, () => ask('normal', 'greedy'));
  await settle();
  const others = ['two', 'three', 'four'].map((client) => ask('normal', client));
  await settle();
  expect(held(others)).toBe(0);
  for (let served = 0; served < 3; served += 1) greedy[served]?.slot?.release();
  await settle();
  expect(held(others)).toBe(3);
  // Also once the queue has not been empty for long, when the newest are served first.
  await vi.advanceTimersByTimeAsync(100);
  const late = ask('normal', 'late');
  for (let number = 0; number < 100; number += 1) ask('normal', 'greedy');
  greedy[3]?.slot?.release();
  await settle();
  expect(held([late])).toBe(1);
});

test('requests that come back after their bodies are served by the same rule', async () => {
  const greedy = Array.from({ length: 6 }, () => ask('high', 'greedy'));
  const other = ask('high', 'other');
  await settle();
  for (const { slot } of [...greedy.slice(1), other]) slot?.release();
  const more = Array.from({ length: 7 }, () => ask('high', 'third'));
  await settle();
  const back = [...greedy.slice(1), other].map(({ slot }) => slot?.acquire());
  let isBack = false;
  void Promise.resolve(back.at(-1)).then(() => {
    isBack = true;
  });
  more[0]?.slot?.release();
  await settle();
  expect(isBack).toBe(true);
});

test('queues a burst and serves it in order of arrival', async () => {
  const burst = askFor(20, 'low');
  await settle();
  expect(held(burst)).toBe(4);
  expect(guard.load().queued.low).toBe(16);
  for (let served = 0; served < 20; served += 1) {
    burst[served]?.slot?.release();
    await settle();
    expect(held(burst)).toBe(Math.min(4, 19 - served));
  }
  expect(refused).toEqual([]);
  expect(guard.load()).toMatchObject({ inFlight: 0, queued: { low: 0 } });
});

test('serves waiting submissions first and creations last', async () => {
  const first = askFor(8, 'high');
  const [create, read, submit] = [ask('low'), ask('normal'), ask('high')];
  await settle();
  first[0]?.slot?.release();
  await settle();
  expect([held([submit]), held([read]), held([create])]).toEqual([1, 0, 0]);
  for (const { slot } of first) slot?.release();
  await settle();
  expect(held([create, read])).toBe(2);
});

test('rejects a request that waited too long, with Retry-After', async () => {
  askFor(6);
  const late = ask();
  await vi.advanceTimersByTimeAsync(waitMs - 100);
  expect(late.failure).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(late.failure?.code).toBe('unavailable');
  expect(Number(late.failure?.headers['Retry-After'])).toBeGreaterThan(0);
  expect(refused).toEqual(['normal']);
});

test('serves the newest first and rejects quickly under standing overload', async () => {
  const working = askFor(6);
  const standing = setInterval(() => ask(), 50);
  await vi.advanceTimersByTimeAsync(waitMs + 100);
  clearInterval(standing);
  const [older, newer] = [ask(), ask()];
  working[0]?.slot?.release();
  await settle();
  expect([held([older]), held([newer])]).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(waitMs / 2);
  expect(older.failure?.code).toBe('unavailable');
});

test('lets a burst wait again after the overload', async () => {
  const working = askFor(6);
  const standing = setInterval(() => ask(), 50);
  await vi.advanceTimersByTimeAsync(2 * waitMs);
  clearInterval(standing);
  await vi.advanceTimersByTimeAsync(2 * waitMs);
  const patient = ask();
  await vi.advanceTimersByTimeAsync(waitMs / 2);
  working[0]?.slot?.release();
  await settle();
  expect(held([patient])).toBe(1);
});

test('gives no slot to a disconnected client and does not count it as rejected', async () => {
  const working = askFor(6);
  const [gone, here] = [ask(), ask()];
  await settle();
  gone.response.destroyed = true;
  working[0]?.slot?.release();
  await settle();
  expect([held([gone]), held([here])]).toEqual([0, 1]);
  expect(refused).toEqual([]);
});

test('measures how long admitted requests waited', async () => {
  const working = askFor(6);
  ask();
  await vi.advanceTimersByTimeAsync(300);
  working[0]?.slot?.release();
  await settle();
  expect(waits).toEqual([{ priority: 'normal', ms: 300 }]);
});

test('keeps every limit, answers every request in time and leaves no timer, for any sequence of requests', async () => {
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
      const held = () => asked.filter(({ slot }) => slot?.isHeld);
      for (const one of actions) {
        if (one.kind === 'ask') asked.push(Object.assign(ask(one.priority), { priority: one.priority }));
        else if (one.kind === 'wait') await vi.advanceTimersByTimeAsync(one.ms);
        else if (held().length > 0) held()[one.which % held().length]?.slot?.release();
        await settle();
        const count = (...wanted: Priority[]) =>
          held().filter((each) => wanted.includes(each.priority)).length;
        expect(count('peer')).toBeLessThanOrEqual(limits.peer);
        expect(count('low')).toBeLessThanOrEqual(limits.low);
        expect(count('low', 'normal')).toBeLessThanOrEqual(limits.normal);
        expect(count('low', 'normal', 'high')).toBeLessThanOrEqual(limits.high);
      }
      await vi.advanceTimersByTimeAsync(waitMs + 100);
      expect(asked.every(({ slot, failure }) => slot ?? failure)).toBe(true);
      for (const { slot } of asked) slot?.release();
      expect(guard.load()).toMatchObject({ inFlight: 0, queued: { high: 0, normal: 0, low: 0, peer: 0 } });
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 100 },
  );
});

test('a response that is made while it is sent holds a slot for each piece, and none in between', async () => {
  const slot = (await guard.admitFor('transactions')({})) as Slot;
  const ctx = { state: { slot } } as unknown as Context;
  slot.release();
  for (const piece of ['first', 'second']) {
    expect(guard.load().inFlight).toBe(0);
    const made = await withSlot(ctx, async () => `${piece} of ${guard.load().inFlight}`);
    expect(made).toBe(`${piece} of 1`);
  }
  expect(guard.load().inFlight).toBe(0);
});
