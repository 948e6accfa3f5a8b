import { beforeEach, expect, test, vi } from 'vitest';
import { Failure } from '#lib/errors/fail.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { createOverloadGuard, type OverloadGuard, type Place } from '#lib/http/overload-guard.ts';

const operation = (more: Partial<ContractOperation> = {}) => more as ContractOperation;
const create = operation({ 'x-priority': 'low' });
const ofPeer = operation({ 'x-priority': 'peer' });
const read = operation();
const submit = operation({ 'x-priority': 'high' });

let delayMs: number;
let refused: { service: string; priority: string; reason: string }[];
let guard: OverloadGuard;
beforeEach(() => {
  delayMs = 0;
  refused = [];
  guard = createOverloadGuard({
    limits: { inFlight: 100, delayMs: 200, waitMs: 0 },
    readDelay: () => delayMs,
    metrics: { refused: (facts) => refused.push(facts), waited: () => {} },
  });
});

/** Nobody waits here, so there is a place at once or none. */
const admit = (what: ContractOperation) => guard.admitFor('transactions')(what) as Place;
/** How many of these get in until one is refused. */
function fill(what: ContractOperation): number {
  for (let admitted = 0; ; admitted += 1)
    try {
      admit(what);
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
      return admitted;
    }
}

test('creates are refused while there is still room for reads, and reads while there is still room for submits', () => {
  expect(fill(create)).toBe(50);
  expect(fill(read)).toBe(25);
  expect(fill(submit)).toBe(25);
  expect(guard.load().inFlight).toBe(100);
  expect(refused).toEqual([
    { service: 'transactions', priority: 'low', reason: 'in-flight' },
    { service: 'transactions', priority: 'normal', reason: 'in-flight' },
    { service: 'transactions', priority: 'high', reason: 'in-flight' },
  ]);
});

test('other instances have a quarter of the room beside, and leave all of it to who is here', () => {
  expect(fill(ofPeer)).toBe(25);
  expect(fill(create)).toBe(50);
  expect(fill(read)).toBe(25);
  expect(() => admit(ofPeer)).toThrow(Failure);
  expect(fill(submit)).toBe(25);
  expect(refused.map(({ priority }) => priority)).toEqual(['peer', 'low', 'normal', 'peer', 'high']);
});

test('it says how long nobody but other instances has been worked for', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    expect(guard.load().sinceOthersMs).toBe(Number.POSITIVE_INFINITY);
    admit(ofPeer);
    const place = admit(read);
    vi.advanceTimersByTime(100);
    expect(guard.load().sinceOthersMs).toBe(0);
    place.leave();
    vi.advanceTimersByTime(100);
    expect(guard.load().sinceOthersMs).toBe(100);
  } finally {
    vi.useRealTimers();
  }
});

test('other instances are not let in where there is no room for reads', () => {
  fill(read);
  expect(fill(ofPeer)).toBe(0);
});

test('submits alone may use all of the room', () => {
  expect(fill(submit)).toBe(100);
});

test('all services of a process share its room', () => {
  for (let number = 0; number < 75; number += 1) guard.admitFor(number % 2 ? 'auth' : 'forms')(read);
  expect(() => guard.admitFor('peers')(read)).toThrow(Failure);
});

test('who has finished makes room', () => {
  const places = Array.from({ length: 75 }, () => admit(read));
  expect(() => admit(read)).toThrow(Failure);
  places[0]?.leave();
  admit(read);
});

test('a client that is still sending its body holds no room; when it has sent it, it waits for room and is not refused', async () => {
  const slow = admit(submit);
  slow.leave();
  const others = Array.from({ length: 100 }, () => admit(submit));
  const back = Promise.resolve(slow.enter()).then(() => 'back');
  expect(guard.load().inFlight).toBe(100);
  others[0]?.leave();
  expect(await back).toBe('back');
  expect(guard.load().inFlight).toBe(100);
  slow.leave();
  slow.leave();
  expect(guard.load().inFlight).toBe(99);
});

test('an event loop that is behind keeps creates out first, then reads, then submits', () => {
  for (let number = 0; number < 8; number += 1) admit(read);
  delayMs = 99;
  admit(create);
  delayMs = 101;
  expect(() => admit(create)).toThrow(Failure);
  admit(read);
  delayMs = 151;
  expect(() => admit(read)).toThrow(Failure);
  admit(submit);
  delayMs = 200;
  expect(() => admit(submit)).toThrow(Failure);
  expect(refused.map(({ priority, reason }) => [priority, reason])).toEqual([
    ['low', 'event-loop'],
    ['normal', 'event-loop'],
    ['high', 'event-loop'],
  ]);
});

test('an event loop that is behind keeps nobody out while there is next to nothing to do: the process has just started', () => {
  delayMs = 5_000;
  expect(fill(create)).toBe(8);
});

test('who is refused is told to come again after a while, not all at the same time', () => {
  fill(submit);
  const told = Array.from({ length: 6 }, () => {
    try {
      admit(read);
      return undefined;
    } catch (error) {
      const { code, headers } = error as Failure;
      return `${code} ${headers['Retry-After']}`;
    }
  });
  expect(new Set(told)).toEqual(new Set(['unavailable 1', 'unavailable 2', 'unavailable 3']));
});

test('a limit of 0 is none', () => {
  const open = createOverloadGuard({
    limits: { inFlight: 0, delayMs: 0, waitMs: 1_000 },
    readDelay: () => 10_000,
  });
  for (let number = 0; number < 1_000; number += 1) open.admitFor('forms')(read);
});
