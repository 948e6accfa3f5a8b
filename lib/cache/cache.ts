import { LRUCache } from 'lru-cache';
import type { RedisLink } from '#lib/cache/redis-link.ts';

/** Something found in a cache. */
export interface Cached {
  value: string;
  /** For how long it would still be there. */
  remainingMs: number;
}

/** Keeps what may be lost at any time. Never rejects: a cache that does not answer has nothing. */
export interface Cache {
  get(key: string): Promise<Cached | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A cache of this process alone. */
export function createMemoryCache({ max = 10_000 }: { max?: number } = {}): Cache {
  const entries = new LRUCache<string, string>({ max, ttl: 1, updateAgeOnGet: false, ttlResolution: 0 });
  return {
    async get(key) {
      const value = entries.get(key);
      return value === undefined ? undefined : { value, remainingMs: entries.getRemainingTTL(key) };
    },
    async set(key, value, ttlMs) {
      entries.set(key, value, { ttl: ttlMs });
    },
    async delete(key) {
      entries.delete(key);
    },
  };
}

/** More than any value of ours; Redis is not trusted to keep to that. */
const mostBytes = 64 * 1024;

/** A cache that every replica shares. @param name keeps the keys of different caches apart. */
export function createRedisCache({ link, name }: { link: RedisLink; name: string }): Cache {
  const redisKey = (key: string) => `accord:${name}:${key}`;
  return {
    async get(key) {
      try {
        return await link.run(async (client) => {
          const [value, remainingMs] = await Promise.all([
            client.getrange(redisKey(key), 0, mostBytes),
            client.pttl(redisKey(key)),
          ]);
          const isOurs = value !== '' && value.length <= mostBytes && remainingMs > 0;
          return isOurs ? { value, remainingMs } : undefined;
        });
      } catch {
        return undefined;
      }
    },
    async set(key, value, ttlMs) {
      await link.run((client) => client.set(redisKey(key), value, 'PX', Math.ceil(ttlMs))).catch(() => {});
    },
    async delete(key) {
      await link.run((client) => client.del(redisKey(key))).catch(() => {});
    },
  };
}
