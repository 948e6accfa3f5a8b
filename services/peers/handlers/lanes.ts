import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { fail } from '#lib/errors/fail.ts';

/**
 * Bounds what each peer has this process do, so that one that sends without end leaves room for everybody else: so many of its requests are
 * taken at once, and where people and keys are served, they are worked on one after the other, and at a pace while somebody waits. No peer
 * waits for another.
 */
export interface Lanes {
  /** Costs next to nothing. @param caller address and unproved key. @throws Failure `too-many-requests` if that one was just told to wait. */
  check(caller: string): void;
  /** Takes a lane of a peer for a request, once. @throws Failure `too-many-requests` if it has none left. */
  enter(ctx: Context, who: { peer: string; caller: string }): void;
  /** Resolves when it is the turn of a request that has a lane. */
  turn(ctx: Context): Promise<void>;
  /** Gives lane and turn free when the request is over. */
  middleware: Middleware;
}

/** Four parts, as the protocol has it; the same again, whose sender has not waited for the first answer; and what else there is to ask. */
const lanesPerPeer = 12;
/** So long after others were served more will come, who are not to meet all that was taken at the same time. */
const quietMs = 250;
/** While others are served, so long from one turn of a peer to its next. */
const paceMs = 20;
const retryAfterSeconds = 1;

interface Line {
  /** Requests that have a lane, and those of them that have their turn. */
  taken: number;
  running: number;
  waiting: (() => void)[];
  /** When the last turn began, by performance.now(). */
  begun: number;
  /** Whether it is planned to look again when it is time for the next turn. */
  isPaced: boolean;
}

const newLine = (): Line => ({
  ...{ taken: 0, running: 0, waiting: [] },
  ...{ begun: Number.NEGATIVE_INFINITY, isPaced: false },
});

/** @param sinceOthersMs how long this process has worked for nobody but peers; 0 while it does. */
export function createLanes({ sinceOthersMs }: { sinceOthersMs: () => number }): Lanes {
  /** By peer; of strangers there is none. */
  const lines = new Map<string, Line>();
  /** Until when, by performance.now(); whoever is not among so many is looked at again. */
  const toldToWait = new LRUCache<string, number>({ max: 1_000 });

  function begin(line: Line): void {
    while (line.waiting.length > 0) {
      const sinceMs = sinceOthersMs();
      if (sinceMs < quietMs && line.running > 0) return;
      const earlyMs = sinceMs === 0 ? line.begun + paceMs - performance.now() : 0;
      if (earlyMs > 0) {
        beginAfter(line, earlyMs);
        return;
      }
      line.running += 1;
      line.begun = performance.now();
      line.waiting.shift()?.();
    }
  }

  function beginAfter(line: Line, ms: number): void {
    if (line.isPaced) return;
    line.isPaced = true;
    setTimeout(() => {
      line.isPaced = false;
      begin(line);
    }, ms);
  }

  return {
    check(caller) {
      if (performance.now() < (toldToWait.get(caller) ?? 0)) throw tooMany();
    },
    enter(ctx, { peer, caller }) {
      if (ctx.state.lane !== undefined) return;
      const line = lines.get(peer) ?? newLine();
      if (line.taken >= lanesPerPeer) {
        toldToWait.set(caller, performance.now() + retryAfterSeconds * 1_000);
        throw tooMany();
      }
      line.taken += 1;
      lines.set(peer, line);
      ctx.state.lane = peer;
    },
    turn(ctx) {
      const line = lines.get(ctx.state.lane as string) as Line;
      return new Promise((resolve) => {
        line.waiting.push(() => {
          ctx.state.turn = true;
          resolve();
        });
        begin(line);
      });
    },
    async middleware(ctx, next) {
      try {
        await next();
      } finally {
        const line = lines.get(ctx.state.lane as string);
        if (line) {
          line.taken -= 1;
          if (ctx.state.turn) line.running -= 1;
          begin(line);
        }
      }
    },
  };
}

function tooMany() {
  return fail('too-many-requests', 'There are too many requests of this peer at the same time.', {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}
