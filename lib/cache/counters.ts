import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { RedisLink } from '#lib/cache/redis-link.ts';

/** Counts what somebody does within a window of time. */
export interface Counter {
  /** Counts one. @returns how many milliseconds to wait, if that was more than the window allows. */
  count(who: string): Promise<number | undefined>;
  /** Takes one back. */
  takeBack(who: string): Promise<void>;
}

/** Makes the counter of one name. */
export type Counters = (limit: { name: string; points: number; seconds: number }) => Counter;

/** Counters of this process alone. */
export function createMemoryCounters(): Counters {
  return ({ name, points, seconds }) =>
    counterOf(new RateLimiterMemory({ keyPrefix: name, points, duration: seconds }), (work) => work());
}

/**
 * Counters that every replica shares. While Redis does not answer each replica counts for itself, up to its part of the limit.
 * @param replicas how many there are.
 */
export function createRedisCounters({ link, replicas }: { link: RedisLink; replicas: number }): Counters {
  return ({ name, points, seconds }) => {
    const shared = counterOf(
      new RateLimiterRedis({
        storeClient: link.client,
        keyPrefix: `accord:limit:${name}`,
        points,
        duration: seconds,
      }),
      (work) => link.run(work),
    );
    const own = createMemoryCounters()({ name, points: Math.max(1, Math.floor(points / replicas)), seconds });
    return {
      async count(who) {
        const waitMs = await shared.count(who).catch(() => own.count(who));
        // Nobody waits longer than the window, unless somebody else has written to Redis.
        return waitMs !== undefined && (waitMs < 0 || waitMs > seconds * 1000) ? own.count(who) : waitMs;
      },
      takeBack: (who) => shared.takeBack(who).catch(() => own.takeBack(who)),
    };
  };
}

function counterOf(limiter: RateLimiterAbstract, run: <T>(work: () => Promise<T>) => Promise<T>): Counter {
  return {
    async count(who) {
      try {
        await run(() => limiter.consume(who));
        return undefined;
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return refused.msBeforeNext;
        throw refused;
      }
    },
    takeBack: async (who) => void (await run(() => limiter.reward(who))),
  };
}
