import type { Context } from 'koa';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { type BodyBudget, createBodyBudget } from '#lib/http/body-budget.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { createPlaces, type Places, type Priority, priorities, type Room } from '#lib/http/places.ts';
import { createWaitingLine, type WaitingLine } from '#lib/http/waiting-line.ts';
import type { HttpMetrics } from '#lib/observability/metrics/http-metrics.ts';

/** Thresholds above which requests wait or are refused. 0 switches a limit off. */
export interface OverloadLimits {
  /** Requests that are worked on at once. */
  inFlight: number;
  /** Delay of the event loop in milliseconds. */
  delayMs: number;
  /** How long a request may wait for a place, in milliseconds; 0: it is refused at once. */
  waitMs: number;
}

/** A request's place among those that are worked on. */
export interface Place {
  readonly isHeld: boolean;
  /** Gives the place up: for a while, or because the request is over. */
  leave(): void;
  /** Takes it again. Never refused, because the request has been admitted; a promise if there is no room yet. */
  enter(): void | Promise<void>;
  /** Bounds what the bodies that are still arriving hold in memory. */
  bodies: BodyBudget;
}

/**
 * Admits a request: at once if there is room, else when there is.
 * @param response tells whether the client has gone.
 * @throws Failure `unavailable` with Retry-After, if it would wait too long.
 */
export type Admit = (
  operation: Pick<ContractOperation, 'x-priority'>,
  response?: { readonly destroyed: boolean },
) => Place | Promise<Place>;

/** Keeps a process from taking on more than it can finish; its services share it. */
export interface OverloadGuard {
  admitFor(service: string): Admit;
  /** `sinceOthersMs`: how long no request has been worked on that does not come from a peer, 0 while there is one. */
  load(): {
    inFlight: number;
    queued: Record<Priority, number>;
    sinceOthersMs: number;
    delayMs: number;
  };
}

interface Options {
  limits: OverloadLimits;
  /** Delay of the event loop in milliseconds. */
  readDelay: () => number;
  metrics?: Pick<HttpMetrics, 'refused' | 'waited'>;
}

/** Requests of one kind that wait, and why there is no room for one more. */
interface Queue {
  line: WaitingLine;
  reasonToWait(): string | undefined;
}

/** How often waiting requests are looked at, besides whenever a place becomes free. */
const lookMs = 25;
/** Clients that were refused together must not come back together. */
const retryAfterSeconds = [1, 2, 3];

/** Makes the guard of one process. Probes and metrics are no operations of a service's contract and never come here. */
export function createOverloadGuard({ limits, readDelay, metrics }: Options): OverloadGuard {
  const places = createPlaces({ limits, readDelay });
  const { arriving, returning, queues } = createQueues(places, limits.waitMs);
  const take = createTaker({ places, returning, queues });
  const overloaded = createRefusals();
  return {
    admitFor: (service) => (operation, response) => {
      const priority = operation['x-priority'] ?? 'normal';
      queues.admitWaiting();
      const reason = places.reasonToRefuse(priority);
      if (!reason) return take(priority);
      const isGone = () => response?.destroyed === true;
      const refusal = () => {
        if (!isGone()) metrics?.refused({ service, priority, reason });
        return overloaded();
      };
      if (limits.waitMs === 0) throw refusal();
      const since = performance.now();
      return new Promise<Place>((resolve, reject) => {
        const admit = () => {
          metrics?.waited({ priority, ms: performance.now() - since });
          resolve(take(priority));
        };
        queues.push(arriving[priority], { isGone, admit, refuse: () => reject(refusal()) });
      });
    },
    load: () => ({
      ...{ inFlight: places.inFlight(), sinceOthersMs: places.sinceOthersMs(), delayMs: readDelay() },
      queued: byPriority((priority) => arriving[priority].line.length()),
    }),
  };
}

function byPriority<Value>(of: (priority: Priority) => Value): Record<Priority, Value> {
  return Object.fromEntries(priorities.map((priority) => [priority, of(priority)])) as Record<
    Priority,
    Value
  >;
}

/** Requests that gave their place up for a while are served before new ones, and wait for as long as it takes. */
function createQueues(places: Places, waitMs: number) {
  const queue = (maxWaitMs: number, reasonToWait: Queue['reasonToWait']): Queue => ({
    line: createWaitingLine(maxWaitMs),
    reasonToWait,
  });
  const arriving = byPriority((priority) => queue(waitMs, () => places.reasonToRefuse(priority)));
  const returning = {
    others: queue(Number.POSITIVE_INFINITY, () => places.reasonToReturn('others')),
    peers: queue(Number.POSITIVE_INFINITY, () => places.reasonToReturn('peers')),
  };
  const inOrder = [
    ...[returning.others, arriving.high, arriving.normal, arriving.low],
    ...[returning.peers, arriving.peer],
  ];
  return { arriving, returning, queues: serveQueues(inOrder) };
}

/** @returns what gives a request its place, where there is room. */
function createTaker({
  places,
  returning,
  queues,
}: {
  places: Places;
  returning: Record<Room, Queue>;
  queues: ReturnType<typeof serveQueues>;
}) {
  const bodies = createBodyBudget();
  return (priority: Priority): Place => {
    const room = priority === 'peer' ? 'peers' : 'others';
    places.take(room);
    const place = {
      ...{ isHeld: true, bodies },
      leave() {
        if (!place.isHeld) return;
        place.isHeld = false;
        places.give(room);
        queues.admitWaiting();
      },
      enter() {
        if (place.isHeld) return;
        place.isHeld = true;
        if (!places.reasonToReturn(room)) return places.take(room);
        return new Promise<void>((resolve) => {
          const admit = () => resolve(places.take(room));
          queues.push(returning[room], { admit, refuse: admit, isGone: () => false });
        });
      },
    };
    return place;
  };
}

function createRefusals(): () => Failure {
  let refusals = 0;
  return () => {
    refusals += 1;
    return fail('unavailable', 'There is too much to do at the moment. Please try again.', {
      headers: { 'Retry-After': String(retryAfterSeconds[refusals % retryAfterSeconds.length]) },
      overload: true,
    });
  };
}

/** @param inOrder who comes first is served first. */
function serveQueues(inOrder: readonly Queue[]) {
  let queued = 0;
  let timer: NodeJS.Timeout | undefined;
  function admitWaiting(): void {
    if (queued === 0) return;
    for (const { line, reasonToWait } of inOrder)
      while (line.length() > 0 && !reasonToWait()) {
        queued -= 1;
        const next = line.take();
        if (next?.isGone()) next.refuse();
        else next?.admit();
      }
    if (queued === 0) stopLooking();
  }
  function stopLooking(): void {
    clearInterval(timer);
    timer = undefined;
  }
  function look(): void {
    for (const { line } of inOrder)
      for (const waiting of line.takeOverdue()) {
        queued -= 1;
        waiting.refuse();
      }
    if (queued === 0) stopLooking();
    else admitWaiting();
  }
  return {
    admitWaiting,
    push({ line }: Queue, waiting: Parameters<WaitingLine['push']>[0]) {
      line.push(waiting);
      queued += 1;
      timer ??= setInterval(look, lookMs);
    },
  };
}

/** Does what depends on a client or on others while the request holds no place, because it is no work of this process. */
export async function withoutPlace<Result>(ctx: Context, wait: () => Promise<Result>): Promise<Result> {
  const place = ctx.state.place as Place | undefined;
  if (!place?.isHeld) return wait();
  place.leave();
  try {
    return await wait();
  } finally {
    await place.enter();
  }
}
