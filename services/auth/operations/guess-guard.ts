import type { Context } from 'koa';
import { whileIdle } from '#lib/http/admission.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';

/**
 * Limits failed credentials per address. Counts each attempt when it starts, so that concurrent attempts
 * cannot exceed the limit, and uncounts successful ones.
 * @throws Failure `too-many-requests`.
 */
export type GuessGuard = <Result>(
  ctx: Context,
  attempt: () => Promise<Result>,
  isRefused: (result: Result) => boolean,
) => Promise<Result>;

/**
 * Concurrent attempts per address; others wait, so that many simultaneous sign-ins do not exceed the limit.
 */
const maxConcurrent = 16;

export function createGuessGuard({
  limiter,
}: {
  limiter: Pick<RateLimiter, 'countRefusal' | 'forgetRefusal'>;
}): GuessGuard {
  const turns = createTurns(maxConcurrent);
  return (ctx, attempt, isRefused) =>
    turns.take(
      clientNetwork(ctx),
      async () => {
        await limiter.countRefusal(ctx);
        let refused = false;
        try {
          const result = await attempt();
          refused = isRefused(result);
          return result;
        } finally {
          if (!refused) await limiter.forgetRefusal(ctx);
        }
      },
      (turn) => whileIdle(ctx, turn),
    );
}

/** Limits concurrency per name; further work waits its turn. */
export interface Turns {
  /** @param wrapWait wraps the wait for a turn, for example to release an admission slot meanwhile. */
  take<T>(
    name: string,
    work: () => Promise<T>,
    wrapWait?: (wait: () => Promise<void>) => Promise<void>,
  ): Promise<T>;
}

interface Queue {
  running: number;
  waiting: (() => void)[];
}

export function createTurns(maxConcurrent: number): Turns {
  const queues = new Map<string, Queue>();
  return {
    async take(name, work, wrapWait = (wait) => wait()) {
      const queue = queues.get(name) ?? { running: 0, waiting: [] };
      queues.set(name, queue);
      if (queue.running >= maxConcurrent)
        await wrapWait(() => new Promise<void>((begin) => queue.waiting.push(begin)));
      else queue.running += 1;
      try {
        return await work();
      } finally {
        const next = queue.waiting.shift();
        // Passes the turn on to the next one.
        if (next) next();
        else if (--queue.running === 0) queues.delete(name);
      }
    },
  };
}
