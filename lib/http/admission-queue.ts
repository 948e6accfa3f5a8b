/** A request that waits for a slot. */
export interface Waiting {
  /** The network that it comes from. */
  client: string;
  /** When it is rejected, by performance.now(). */
  until: number;
  /** Whether its client has disconnected. */
  isGone(): boolean;
  admit(): void;
  /** Called when the wait is over or the client has disconnected. */
  refuse(): void;
}

/** Waiting requests of one priority, or returning requests of one pool. */
interface WaitingLine {
  length(): number;
  /** The line sets `until`, because the allowed wait depends on how long the line has not been empty. */
  push(waiting: Omit<Waiting, 'until'>): void;
  /** Removes the next request to be served. */
  take(): Waiting | undefined;
  /** Removes the requests whose wait is over or whose client has disconnected. */
  takeOverdue(): Waiting[];
}

/**
 * Shares of the longest wait. A line in which requests have waited without a break for `newestFirstShare`
 * serves its newest request first. After `standingShare`, requests may wait only for `shortShare`.
 */
const [newestFirstShare, standingShare, shortShare] = [0.05, 0.5, 0.25];

/**
 * A queue bounded by time: controlled delay and adaptive LIFO (Maurer, "Fail at Scale", ACM Queue 13/8,
 * 2015). In a burst the oldest request is served first, and each may wait `maxWaitMs`. A queue that stays
 * non-empty serves the newest first, because its client is the likeliest to be still waiting. After half of
 * `maxWaitMs` the overload counts as standing: new requests may wait only briefly, so that they are rejected
 * quickly. Before age counts the share: a request whose client holds the fewest slots is served first, so
 * that the many requests of one client wait for each other.
 * @param heldBy how many slots a client holds.
 */
function createWaitingLine(maxWaitMs: number, heldBy: (client: string) => number): WaitingLine {
  let waiting: Waiting[] = [];
  /** When a request last found the queue empty. */
  let standingSince = 0;
  return {
    length: () => waiting.length,
    push(request) {
      const now = performance.now();
      if (waiting.length === 0) standingSince = now;
      const isStanding = now - standingSince >= maxWaitMs * standingShare;
      waiting.push({ ...request, until: now + (isStanding ? maxWaitMs * shortShare : maxWaitMs) });
    },
    take() {
      const newestFirst = performance.now() - standingSince >= maxWaitMs * newestFirstShare;
      const at = pickFairly(waiting, newestFirst ? -1 : 1, heldBy);
      return waiting.splice(at, 1)[0];
    },
    takeOverdue() {
      const now = performance.now();
      const { overdue = [], rest = [] } = Object.groupBy(waiting, (request) =>
        now >= request.until || request.isGone() ? 'overdue' : 'rest',
      );
      waiting = rest;
      return overdue;
    },
  };
}

/**
 * @param step 1 from the oldest request on, -1 from the newest.
 * @returns index of the first request whose client holds the fewest slots.
 */
function pickFairly(waiting: readonly Waiting[], step: 1 | -1, heldBy: (client: string) => number): number {
  const start = step === 1 ? 0 : waiting.length - 1;
  let [picked, fewest, last] = [start, Number.POSITIVE_INFINITY, ''];
  for (let at = start; fewest > 0 && at >= 0 && at < waiting.length; at += step) {
    const { client } = waiting[at] as Waiting;
    // A crowd of one client is passed over quickly.
    if (client === last) continue;
    last = client;
    const held = heldBy(client);
    if (held < fewest) [picked, fewest] = [at, held];
  }
  return picked;
}

/** Waiting requests of one priority, or returning requests of one pool. */
export interface AdmissionQueue {
  length(): number;
  push(waiting: Omit<Waiting, 'until'>): void;
}

/** Interval at which waiting requests are checked, besides every release of a slot. */
const checkIntervalMs = 25;

/**
 * The queues of a process; the one that was added first is served first.
 * @param heldBy how many slots a client holds.
 */
export function createAdmissionQueues(heldBy: (client: string) => number) {
  const queues: { line: WaitingLine; isBlocked: () => boolean }[] = [];
  let queued = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Admits waiting requests, by order of the queues, as long as there are slots. */
  function admitWaiting(): void {
    if (queued === 0) return;
    for (const { line, isBlocked } of queues)
      while (line.length() > 0 && !isBlocked()) {
        queued -= 1;
        const next = line.take();
        if (next?.isGone()) next.refuse();
        else next?.admit();
      }
    stopTimerIfEmpty();
  }

  function refuseOverdue(): void {
    for (const { line } of queues)
      for (const waiting of line.takeOverdue()) {
        queued -= 1;
        waiting.refuse();
      }
    stopTimerIfEmpty();
    admitWaiting();
  }

  function stopTimerIfEmpty(): void {
    if (queued > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    admitWaiting,
    /** @param isBlocked whether there is no slot for its requests at the moment. */
    add(maxWaitMs: number, isBlocked: () => boolean): AdmissionQueue {
      const line = createWaitingLine(maxWaitMs, heldBy);
      queues.push({ line, isBlocked });
      return {
        length: line.length,
        push(waiting) {
          line.push(waiting);
          queued += 1;
          timer ??= setInterval(refuseOverdue, checkIntervalMs);
        },
      };
    },
  };
}
