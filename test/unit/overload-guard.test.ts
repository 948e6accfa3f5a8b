import { beforeEach, expect, test, vi } from 'vitest';
import { Failure } from '#lib/errors/fail.ts';
import { createOverloadGuard, type OverloadGuard, type Slot } from '#lib/http/admission.ts';
import type { ContractOperation } from '#lib/http/operation.ts';

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

/** With `waitMs` 0 a request is admitted or rejected at once. */
const admit = (what: ContractOperation) => guard.admitFor('transactions')(what) as Slot;
/** The number of these requests that are admitted before one is rejected. */
function fill(what: ContractOperation): number {
  for (let admitted = 0; ; admitted += 1)
    try {
      admit(what);
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
      return admitted;
    }
}

test('sheds creations first, then reads, then submissions', () => {
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

test('gives peers a separate quarter of the slots', () => {
  expect(fill(ofPeer)).toBe(25);
  expect(fill(create)).toBe(50);
  expect(fill(read)).toBe(25);
  expect(() => admit(ofPeer)).toThrow(Failure);
  expect(fill(submit)).toBe(25);
  expect(refused.map(({ priority }) => priority)).toEqual(['peer', 'low', 'normal', 'peer', 'high']);
});

test('reports how long only requests of peers have been in flight', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    expect(guard.load().sinceOthersMs).toBe(Number.POSITIVE_INFINITY);
    admit(ofPeer);
    const slot = admit(read);
    vi.advanceTimersByTime(100);
    expect(guard.load().sinceOthersMs).toBe(0);
    slot.release();
    vi.advanceTimersByTime(100);
    expect(guard.load().sinceOthersMs).toBe(100);
  } finally {
    vi.useRealTimers();
  }
});

test('rejects peers while it rejects reads', () => {
  fill(read);
  expect(fill(ofPeer)).toBe(0);
});

test('lets submissions use every slot', () => {
  expect(fill(submit)).toBe(100);
});

test('shares its slots among the services of a process', () => {
  for (let number = 0; number < 75; number += 1) guard.admitFor(number % 2 ? 'auth' : 'forms')(read);
  expect(() => guard.admitFor('peers')(read)).toThrow(Failure);
});

test('frees the slot of a finished request', () => {
  const slots = Array.from({ length: 75 }, () => admit(read));
  expect(() => admit(read)).toThrow(Failure);
  slots[0]?.release();
  admit(read);
});

test('frees the slot of a request while its body arrives, and makes it wait for another without rejecting it', async () => {
  const slow = admit(submit);
  slow.release();
  const others = Array.from({ length: 100 }, () => admit(submit));
  const back = Promise.resolve(slow.acquire()).then(() => 'back');
  expect(guard.load().inFlight).toBe(100);
  others[0]?.release();
  expect(await back).toBe('back');
  expect(guard.load().inFlight).toBe(100);
  slow.release();
  slow.release();
  expect(guard.load().inFlight).toBe(99);
});

test('sheds creations first, then reads, then submissions when the event loop is late', () => {
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

test('ignores a late event loop while few requests are in flight', () => {
  delayMs = 5_000;
  expect(fill(create)).toBe(8);
});

test('spreads Retry-After over rejected clients', () => {
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

test('treats a limit of 0 as no limit', () => {
  const open = createOverloadGuard({
    limits: { inFlight: 0, delayMs: 0, waitMs: 1_000 },
    readDelay: () => 10_000,
  });
  for (let number = 0; number < 1_000; number += 1) open.admitFor('forms')(read);
});
