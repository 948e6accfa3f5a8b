import { setTimeout } from 'node:timers/promises';
import type { Context } from 'koa';
import { ApiFailure } from '../api/api-failure.ts';

/** Rows in one call of a list that is read to its end: the most that the API gives. */
export const largestPage = 200;

/** A page is asked for again so many times, for example in the first minute of an outage. */
const maxWaits = 12;
const longestWaitSeconds = 60;

/**
 * Reads the pages of a list to its end, for a file. After the first page, a limit of the API or a short
 * outage makes the file wait instead of breaking it.
 * @param signal stops the waiting.
 * @throws ApiFailure for the first page, and for a later one that the API refuses or keeps refusing.
 */
export async function* readPages<Page extends { next?: string }>(
  read: (cursor: string | undefined) => Promise<Page>,
  signal: AbortSignal,
): AsyncGenerator<Page, void, void> {
  let page = await read(undefined);
  for (;;) {
    yield page;
    const { next } = page;
    if (!next) return;
    page = await whenAllowed(() => read(next), signal);
  }
}

/** Aborts when the client has gone, or has the whole response. */
export function whileConnected(ctx: Context): AbortSignal {
  const closed = new AbortController();
  ctx.res.once('close', () => closed.abort());
  return closed.signal;
}

async function whenAllowed<Page>(read: () => Promise<Page>, signal: AbortSignal): Promise<Page> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await read();
    } catch (error) {
      const mayPass = error instanceof ApiFailure && (error.status === 429 || error.status === 503);
      if (!mayPass || waits >= maxWaits) throw error;
      const seconds = Math.min(error.retryAfter ?? 5, longestWaitSeconds);
      await setTimeout(seconds * 1000, undefined, { signal });
    }
  }
}
