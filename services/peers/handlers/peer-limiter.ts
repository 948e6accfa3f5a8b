import type { Context, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import { fail } from '#lib/errors/fail.ts';

export type PeerLimiter = ReturnType<typeof createPeerLimiter>;

/** Enough for four parts, four retries after time-outs, and other requests. */
const slotsPerPeer = 12;
/** A peer's requests run one at a time while other clients are served, and for this long afterwards. */
const quietMs = 250;
/** Minimum interval between two turns of a peer while requests of other clients are in progress. */
const paceMs = 20;
const retryAfterSeconds = 1;

interface PeerQueue {
  /** Requests with a slot. */
  admitted: number;
  /** Requests with a turn. */
  running: number;
  waiting: (() => void)[];
  /** Start of the last turn, by performance.now(). */
  lastTurnAt: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Limits what one peer uses of this process, so that it cannot starve other clients: a maximum of admitted
 * requests; one at a time while other clients are served and for `quietMs` afterwards; at a limited rate
 * while a request of another client is in progress.
 * @param sinceOthersMs time since a request of another client was in progress; 0 if one is in progress now.
 */
export function createPeerLimiter({ sinceOthersMs }: { sinceOthersMs: () => number }) {
  /** By peer; unauthenticated callers are not added. */
  const queues = new Map<string, PeerQueue>();
  /** End of each rejected caller's Retry-After, by performance.now(). */
  const rejectedUntil = new LRUCache<string, number>({ max: 1_000 });

  function startNext(queue: PeerQueue): void {
    while (queue.waiting.length > 0) {
      const sinceMs = sinceOthersMs();
      if (sinceMs < quietMs && queue.running > 0) return;
      const waitMs = sinceMs === 0 ? queue.lastTurnAt + paceMs - performance.now() : 0;
      if (waitMs > 0) {
        queue.timer ??= setTimeout(() => {
          queue.timer = undefined;
          startNext(queue);
        }, waitMs);
        return;
      }
      queue.running += 1;
      queue.lastTurnAt = performance.now();
      queue.waiting.shift()?.();
    }
  }

  return {
    /** Rejects a caller until its Retry-After ends. @throws Failure `too-many-requests`. */
    check(caller: string): void {
      if (performance.now() < (rejectedUntil.get(caller) ?? 0)) throw tooManyRequests();
    },
    /** Takes a slot for a request, once. @throws Failure `too-many-requests` if the peer has no free slot. */
    enter(ctx: Context, { peer, caller }: { peer: string; caller: string }): void {
      if (ctx.state.peerQueue) return;
      const queue = queues.get(peer) ?? newQueue();
      queues.set(peer, queue);
      if (queue.admitted >= slotsPerPeer) {
        rejectedUntil.set(caller, performance.now() + retryAfterSeconds * 1_000);
        throw tooManyRequests();
      }
      queue.admitted += 1;
      ctx.state.peerQueue = queue;
    },
    /** Resolves when an admitted request may run. */
    waitForTurn(ctx: Context): Promise<void> {
      const queue = ctx.state.peerQueue as PeerQueue;
      return new Promise((resolve) => {
        queue.waiting.push(() => {
          ctx.state.hasTurn = true;
          resolve();
        });
        startNext(queue);
      });
    },
    /** Releases slot and turn at the end of the request. */
    async middleware(ctx: Context, next: Next): Promise<void> {
      try {
        await next();
      } finally {
        const queue = ctx.state.peerQueue as PeerQueue | undefined;
        if (queue) {
          queue.admitted -= 1;
          if (ctx.state.hasTurn) queue.running -= 1;
          startNext(queue);
        }
      }
    },
  };
}

function newQueue(): PeerQueue {
  return { admitted: 0, running: 0, waiting: [], lastTurnAt: Number.NEGATIVE_INFINITY, timer: undefined };
}

function tooManyRequests() {
  return fail('too-many-requests', 'The peer sends too many requests at a time. Retry after a second.', {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}
