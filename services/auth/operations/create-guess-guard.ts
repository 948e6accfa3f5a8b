import type { Context } from 'koa';
import { clientNetwork } from '#lib/http/address-network.ts';
import { withoutPlace } from '#lib/http/overload-guard.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { createTurns } from './create-turns.ts';

/**
 * Tries what somebody may be guessing. Each try counts from its beginning, so that tries side by side are no more than the limit
 * allows; a right one is taken back.
 * @throws Failure `too-many-requests`.
 */
export type GuessGuard = <Result>(
  ctx: Context,
  attempt: () => Promise<Result>,
  isRefused: (result: Result) => boolean,
) => Promise<Result>;

/** Tries of one address at once; others wait, so that many who are right at the same moment are not taken for guessing. */
const atOnce = 16;

/** Makes the {@link GuessGuard} of one process. */
export function createGuessGuard({
  limiter,
}: {
  limiter: Pick<RateLimiter, 'countRefusal' | 'forgetRefusal'>;
}): GuessGuard {
  const turns = createTurns(atOnce);
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
      (turn) => withoutPlace(ctx, turn),
    );
}
