import { type Failure, fail } from '#lib/errors/fail.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import type { HttpMetrics } from '#lib/observability/metrics/http-metrics.ts';

/** From where on a process refuses work. 0 switches a limit off. */
export interface OverloadLimits {
  /** Requests that are worked on at once. */
  inFlight: number;
  /** Delay of the event loop in milliseconds. */
  delayMs: number;
}

/** A request's place among those that are worked on. */
export interface Place {
  /** Gives it free for a while: a client that sends its body slowly makes no work. */
  leave(): void;
  /** Takes it again; never refused, because it has been admitted. */
  enter(): void;
}

/** Lets a request in, or does not. @throws Failure `unavailable` with Retry-After. */
export type Admit = (operation: Pick<ContractOperation, 'x-shed'>) => Place;

/** Keeps a process from taking on more than it can finish; its services share it. */
export interface OverloadGuard {
  admitFor(service: string): Admit;
  /** What is going on; sinceOthersMs: how long no request has been worked on that does not come from a peer, 0 while there is one. */
  load(): { inFlight: number; sinceOthersMs: number; delayMs: number };
}

/**
 * What each kind of work may use of the limits. Whoever has begun is to come to an end: a form is worth more than a new transaction,
 * and the answers of a subject more than a page that can be asked for again (reliability.md, "Overload"). Other instances come again by
 * themselves; whatever they send, the room of those who are here is left to them.
 */
const shares = { peer: 0.25, first: 0.5, other: 0.75, last: 1 };
type Work = keyof typeof shares;
/** What any machine can do at once without anybody waiting for long. */
const fewRequests = 8;
/** As metrics call them. */
const names = { peer: 'peer', first: 'create', other: 'read', last: 'submit' };
/** Clients that were refused together must not come back together. */
const retryAfterSeconds = [1, 2, 3];

/**
 * Refuses requests before anything is done for them: when so many are worked on that one more would wait longer than anybody does, or
 * when the event loop is behind. Health and metrics are no operations of a service's contract and never come here.
 */
export function createOverloadGuard({
  limits,
  readDelay,
  metrics,
}: {
  limits: OverloadLimits;
  /** Delay of the event loop in milliseconds. */
  readDelay: () => number;
  metrics?: Pick<HttpMetrics, 'refused'>;
}): OverloadGuard {
  let inFlight = 0;
  let ofPeers = 0;
  let othersUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  /** Peers stand back behind everybody's reads. What they have taken is beside the room of all others, so that it costs those none. */
  const isFull = (work: Work): boolean =>
    inFlight - ofPeers >= limits.inFlight * shares[work === 'peer' ? 'other' : work] ||
    (work === 'peer' && ofPeers >= limits.inFlight * shares.peer);
  const reasonToRefuse = (work: Work): string | undefined => {
    if (limits.inFlight > 0 && isFull(work)) return 'in-flight';
    // A loop that is late with next to nothing to do has just started, or the machine is busy with others: refusing would not help.
    if (limits.delayMs > 0 && inFlight >= fewRequests && readDelay() >= limits.delayMs * shares[work])
      return 'event-loop';
    return undefined;
  };
  return {
    admitFor: (service) => (operation) => {
      const work = operation['x-shed'] ?? 'other';
      const reason = reasonToRefuse(work);
      if (reason) {
        refusals += 1;
        metrics?.refused({ service, work: names[work], reason });
        throw overloaded(retryAfterSeconds[refusals % retryAfterSeconds.length] as number);
      }
      const count = (by: 1 | -1) => {
        inFlight += by;
        if (work === 'peer') ofPeers += by;
        else othersUntil = performance.now();
      };
      count(1);
      return { leave: () => count(-1), enter: () => count(1) };
    },
    load: () => ({
      inFlight,
      sinceOthersMs: inFlight > ofPeers ? 0 : performance.now() - othersUntil,
      delayMs: readDelay(),
    }),
  };
}

function overloaded(seconds: number): Failure {
  return fail('unavailable', 'There is too much to do at the moment. Please try again.', {
    headers: { 'Retry-After': String(seconds) },
    overload: true,
  });
}
