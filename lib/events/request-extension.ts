import { acceptRequestId, currentRequestId, runWithRequestId } from '#lib/observability/logger.ts';

/** The extension attribute (CloudEvents 1.0 §3.1.2) of an event that a request brought about. */
export interface RequestExtension {
  requestid?: string;
}

/** What an event that is written now says of its request; empty for what a process does by itself. */
export function requestExtension(): RequestExtension {
  const requestid = currentRequestId();
  return requestid === undefined ? {} : { requestid };
}

/** Applies an event as part of the request that brought it about, so that log lines on both ends can be put together. */
export function runAsRequestOf<T>({ requestid }: RequestExtension, work: () => T): T {
  return runWithRequestId(acceptRequestId(requestid), work);
}
