/** A request that waits for a place. */
export interface Waiting {
  /** When it is refused, by performance.now(). */
  until: number;
  /** Whether its client has gone. */
  isGone(): boolean;
  admit(): void;
  /** The time is over, or the client has gone. */
  refuse(): void;
}

/** Requests of one kind that wait for a place. */
export interface WaitingLine {
  length(): number;
  /** @param waiting without the end of its wait, which depends on how long the line has been there. */
  push(waiting: Omit<Waiting, 'until'>): void;
  /** The next one to be served. */
  take(): Waiting | undefined;
  /** Takes out those whose time is over or whose client has gone. */
  takeOverdue(): Waiting[];
}

/** Shares of the longest wait: after which a line serves the newest first; after which it counts as standing; for which one may wait then. */
const [newestFirstShare, standingShare, shortShare] = [0.05, 0.5, 0.25];

/**
 * A line bounded by time (the controlled delay and adaptive LIFO of Maurer, "Fail at Scale", ACM Queue 13/8, 2015). A burst waits: the
 * oldest comes first, and each may wait for `maxWaitMs`. A line that has not been empty for some time serves the newest first, because
 * their clients are the likeliest to be waiting still. A line that has not been empty for half of `maxWaitMs` is no burst: more requests come
 * than can be served, so new ones may wait only briefly, and refusals are quick.
 */
export function createWaitingLine(maxWaitMs: number): WaitingLine {
  let waiting: Waiting[] = [];
  /** When the first request came that found the line empty. */
  let standingSince = 0;
  return {
    length: () => waiting.length,
    push(one) {
      const now = performance.now();
      if (waiting.length === 0) standingSince = now;
      const isStanding = now - standingSince >= maxWaitMs * standingShare;
      waiting.push({ ...one, until: now + (isStanding ? maxWaitMs * shortShare : maxWaitMs) });
    },
    take() {
      const newestFirst = performance.now() - standingSince >= maxWaitMs * newestFirstShare;
      return newestFirst ? waiting.pop() : waiting.shift();
    },
    takeOverdue() {
      const now = performance.now();
      const { overdue = [], rest = [] } = Object.groupBy(waiting, (one) =>
        now >= one.until || one.isGone() ? 'overdue' : 'rest',
      );
      waiting = rest;
      return overdue;
    },
  };
}
