import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { RedisLink } from '#lib/cache/redis-link.ts';

/** Counts actions per key in a time window. */
export interface Counter {
  /**
   * Counts actions, one unless told otherwise.
   * @returns the milliseconds to wait if the limit is exceeded, else undefined.
   */
  count(key: string, actions?: number): Promise<number | undefined>;
  /** Uncounts one action. */
  takeBack(key: string): Promise<void>;
}

/** Creates the counter of a named limit. */
export type Counters = (limit: { name: string; points: number; seconds: number }) => Counter;

/** Counters of this process only. */
export function createMemoryCounters(): Counters {
  return ({ name, points, seconds }) =>
    counterOf(new RateLimiterMemory({ keyPrefix: name, points, duration: seconds }), (work) => work());
}

/**
 * Counters shared by all replicas. While Redis does not answer, each replica counts by itself up to its share
 * of the limit.
 * @param replicas their number.
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
      async count(key, actions) {
        const waitMs = await shared.count(key, actions).catch(() => own.count(key, actions));
        // A wait longer than the window means that Redis holds a forged or corrupt value.
        return waitMs !== undefined && (waitMs < 0 || waitMs > seconds * 1000)
          ? own.count(key, actions)
          : waitMs;
      },
      takeBack: (key) => shared.takeBack(key).catch(() => own.takeBack(key)),
    };
  };
}

function counterOf(limiter: RateLimiterAbstract, run: <T>(work: () => Promise<T>) => Promise<T>): Counter {
  return {
    async count(key, actions = 1) {
      try {
        await run(() => limiter.consume(key, actions));
        return undefined;
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return refused.msBeforeNext;
        throw refused;
      }
    },
    takeBack: async (key) => void (await run(() => limiter.reward(key))),
  };
}
