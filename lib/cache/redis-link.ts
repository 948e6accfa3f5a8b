import { Redis } from 'ioredis';
import type { Logger } from '#lib/observability/logger.ts';

/** A connection to Redis, which may vanish at any time: whoever uses it goes on without. */
export interface RedisLink {
  readonly client: Redis;
  /** Rejects within 200 ms if Redis does not answer, and at once for the second after that. */
  run<T>(work: (client: Redis) => Promise<T>): Promise<T>;
  /** Ends the connection; whatever waits is rejected. */
  stop(): void;
}

/** For so long nobody waits for a Redis that has just not answered: each request would else take 200 ms longer. */
const restMs = 1_000;
const maxReconnectMs = 2_000;

/** Makes the connection of one process; its services share it. @param url REDIS_URL */
export function createRedisLink({ url, log }: { url: string; log: Logger }): RedisLink {
  const client = new Redis(url, {
    // Nothing waits for a connection.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 1_000,
    // Both or neither: what was sent again after a time-out would be counted twice, and kept for that it would never be rejected.
    commandTimeout: 200,
    autoResendUnfulfilledCommands: false,
    // One that has become a replica of another keeps its connections, and takes nothing any more.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    retryStrategy: (attempt) => Math.min(attempt * 100, maxReconnectMs),
  });
  let restsUntil = 0;
  let isDown = false;
  const tell = (down: boolean, error?: unknown) => {
    if (isDown === down) return;
    isDown = down;
    if (down) log.warn('Redis does not answer; limits and caches are kept in this process', { error });
    else log.info('Redis answers again');
  };
  // Without a listener the first lost connection would end the process.
  client.on('error', (error) => tell(true, error));
  client.on('ready', () => {
    restsUntil = 0;
    tell(false);
  });
  return {
    client,
    async run(work) {
      if (client.status !== 'ready' || performance.now() < restsUntil)
        throw new Error('Redis does not answer.');
      try {
        return await work(client);
      } catch (error) {
        // Limiters reject with what is no error.
        if (error instanceof Error) {
          restsUntil = performance.now() + restMs;
          tell(true, error);
        }
        throw error;
      } finally {
        if (performance.now() >= restsUntil) tell(false);
      }
    },
    stop: () => client.disconnect(),
  };
}
