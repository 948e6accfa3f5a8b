import { Redis } from 'ioredis';
import type { Logger } from '#lib/observability/logger.ts';

/** A connection to Redis. Redis may be down at any time; callers must work without it. */
export interface RedisLink {
  readonly client: Redis;
  /** Rejects within 200 ms if Redis does not answer, and at once during the next second. */
  run<T>(work: (client: Redis) => Promise<T>): Promise<T>;
  /** Closes the connection and rejects pending commands. */
  stop(): void;
}

/** After a failure Redis is not asked for this time; otherwise each request would take 200 ms longer. */
const pauseMs = 1_000;
const maxReconnectMs = 2_000;

/** Connects a process; its services share the connection. @param url REDIS_URL @param ca REDIS_CA */
export function createRedisLink({
  url,
  ca,
  log,
}: {
  url: string;
  ca?: string | undefined;
  log: Logger;
}): RedisLink {
  const client = new Redis(url, {
    ...(ca && { tls: { ca } }),
    // Commands do not wait for a connection.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 1_000,
    // A command resent after its time-out would be counted twice; without resending it must have a time-out.
    commandTimeout: 200,
    autoResendUnfulfilledCommands: false,
    // A server demoted to a replica keeps its connections but refuses writes.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    retryStrategy: (attempt) => Math.min(attempt * 100, maxReconnectMs),
  });
  let pausedUntil = 0;
  let isDown = false;
  const report = (down: boolean, error?: unknown) => {
    if (isDown === down) return;
    isDown = down;
    if (down) log.warn('Redis does not answer; this process counts rate limits by itself', { error });
    else log.info('Redis answers again');
  };
  // Without a listener a lost connection would end the process.
  client.on('error', (error) => report(true, error));
  client.on('ready', () => {
    pausedUntil = 0;
    report(false);
  });
  return {
    client,
    async run(work) {
      if (client.status !== 'ready' || performance.now() < pausedUntil)
        throw new Error('Redis does not answer.');
      try {
        return await work(client);
      } catch (error) {
        // Rate limiters reject with a result that is not an Error.
        if (error instanceof Error) {
          pausedUntil = performance.now() + pauseMs;
          report(true, error);
        }
        throw error;
      } finally {
        if (performance.now() >= pausedUntil) report(false);
      }
    },
    stop: () => client.disconnect(),
  };
}
