import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProbes } from '#lib/http/probes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const answered: string[] = [];
const probes = createProbes();
/** Sends a probe on a connection. */
function probe(socket: object, name: string): void {
  const request = { url: '/livez', method: 'GET', socket } as IncomingMessage;
  const response = { writeHead() {}, end: () => void answered.push(name) } as unknown as ServerResponse;
  expect(probes.handle(request, response)).toBe(true);
}

it('a probe is answered at once, and another one on the same connection ten times a second', () => {
  const [one, other] = [{}, {}];
  probe(one, 'first');
  probe(one, 'second');
  probe(other, 'of another');
  expect(answered).toEqual(['first', 'of another']);
  vi.advanceTimersByTime(100);
  expect(answered).toEqual(['first', 'of another', 'second']);
  vi.advanceTimersByTime(100);
  probe(one, 'third');
  expect(answered).toEqual(['first', 'of another', 'second', 'third']);
});
