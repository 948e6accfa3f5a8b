import { beforeEach, expect, test } from 'vitest';
import { Failure } from '#lib/errors/fail.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { createOverloadGuard, type OverloadGuard } from '#lib/http/overload-guard.ts';

const operation = (more: Partial<ContractOperation> = {}) => more as ContractOperation;
const read = operation();
const submit = operation({ 'x-shed': 'last' });

let delayMs: number;
let refused: { service: string; work: string; reason: string }[];
let guard: OverloadGuard;
beforeEach(() => {
  delayMs = 0;
  refused = [];
  guard = createOverloadGuard({
    limits: { inFlight: 10, delayMs: 200 },
    readDelay: () => delayMs,
    metrics: { refused: (facts) => refused.push(facts) },
  });
});

const admit = (what: ContractOperation) => guard.admitFor('transactions')(what);
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

test('reads and creates are refused while there is still room for submits', () => {
  expect(fill(read)).toBe(7);
  expect(fill(submit)).toBe(3);
  expect(guard.load().inFlight).toBe(10);
  expect(refused).toEqual([
    { service: 'transactions', work: 'other', reason: 'in-flight' },
    { service: 'transactions', work: 'submit', reason: 'in-flight' },
  ]);
});

test('submits alone may use all of the room', () => {
  expect(fill(submit)).toBe(10);
});

test('all services of a process share its room', () => {
  for (const service of ['auth', 'forms', 'transactions', 'forms', 'auth', 'auth', 'forms'])
    guard.admitFor(service)(read);
  expect(() => guard.admitFor('peers')(read)).toThrow(Failure);
});

test('who has finished makes room', () => {
  const places = Array.from({ length: 7 }, () => admit(read));
  expect(() => admit(read)).toThrow(Failure);
  places[0]?.leave();
  admit(read);
});

test('a client that is still sending its body holds no room, and is not refused when it has sent it', () => {
  const slow = admit(submit);
  slow.leave();
  expect(fill(submit)).toBe(10);
  slow.enter();
  expect(guard.load().inFlight).toBe(11);
  slow.leave();
  expect(guard.load().inFlight).toBe(10);
});

test('an event loop that is behind keeps reads and creates out first, then submits', () => {
  delayMs = 139;
  admit(read);
  delayMs = 141;
  expect(() => admit(read)).toThrow(Failure);
  admit(submit);
  delayMs = 200;
  expect(() => admit(submit)).toThrow(Failure);
  expect(refused.map(({ work, reason }) => [work, reason])).toEqual([
    ['other', 'event-loop'],
    ['submit', 'event-loop'],
  ]);
});

test('who is refused is told to come again after a while, not all at the same time', () => {
  delayMs = 1_000;
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
  const open = createOverloadGuard({ limits: { inFlight: 0, delayMs: 0 }, readDelay: () => 10_000 });
  for (let number = 0; number < 1_000; number += 1) open.admitFor('forms')(read);
});
