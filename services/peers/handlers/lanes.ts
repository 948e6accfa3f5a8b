import type { Context, Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';

/** Bounds what each peer has this process do at the same time, so that one that sends without end leaves room for everybody else. */
export interface Lanes {
  /** Takes a lane of a peer for a request, once. @throws Failure `too-many-requests` if it has none left. */
  enter(ctx: Context, peer: string): void;
  /** Gives the lane free when the request is over. */
  middleware: Middleware;
}

/** Four parts, as the protocol has it; the same again, whose sender has not waited for the first answer; and what else there is to ask. */
const lanesPerPeer = 12;

export function createLanes(): Lanes {
  const busy = new Map<string, number>();
  const change = (peer: string, by: number) => {
    const left = (busy.get(peer) ?? 0) + by;
    if (left > 0) busy.set(peer, left);
    else busy.delete(peer);
  };
  return {
    enter(ctx, peer) {
      if (ctx.state.lane !== undefined) return;
      if ((busy.get(peer) ?? 0) >= lanesPerPeer)
        throw fail('too-many-requests', 'There are too many requests of this peer at the same time.', {
          headers: { 'Retry-After': '1' },
        });
      ctx.state.lane = peer;
      change(peer, 1);
    },
    async middleware(ctx, next) {
      try {
        await next();
      } finally {
        if (ctx.state.lane !== undefined) change(ctx.state.lane as string, -1);
      }
    },
  };
}
