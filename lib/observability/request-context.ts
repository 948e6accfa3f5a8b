import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** What belongs to the work in hand, whoever does it: it follows calls, events and log lines without being passed on. */
const storage = new AsyncLocalStorage<{ requestId: string } | undefined>();

const wellFormed = /^[0-9A-Za-z_.-]{8,64}$/;

/** A request's id as it came, if it is well-formed: it is written to logs and sent on. Else a new one. */
export function acceptRequestId(given: string | undefined): string {
  return given !== undefined && wellFormed.test(given) ? given : randomUUID();
}

/** Does work as part of a request: of one from outside, of another service's call, or of the request whose event is applied. */
export function runWithRequestId<T>(requestId: string, work: () => T): T {
  return storage.run({ requestId }, work);
}

/** Does what happens to be noticed during a request and is none of it, such as the loss of a connection that it opened once. */
export function runOutsideRequests<T>(work: () => T): T {
  return storage.run(undefined, work);
}

/** The request that the work in hand belongs to; undefined for what a process does by itself. */
export function currentRequestId(): string | undefined {
  return storage.getStore()?.requestId;
}
