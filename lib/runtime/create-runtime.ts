import type { Document } from 'openapi-backend';
import { introspectionMaxAgeMs } from '#lib/auth/authenticate.ts';
import { createSharedIntrospections, type SharedIntrospections } from '#lib/auth/shared-introspections.ts';
import { createRedisCache } from '#lib/cache/cache.ts';
import { createMemoryCounters, createRedisCounters } from '#lib/cache/counters.ts';
import type { RedisLink } from '#lib/cache/redis-link.ts';
import type { ProcessSettings } from '#lib/config/specs.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { watchAnswers } from '#lib/db/watch-answers.ts';
import { createBus } from '#lib/events/create-bus.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createOverloadGuard, type OverloadGuard } from '#lib/http/admission.ts';
import { readContract } from '#lib/http/contract-document.ts';
import { createRateLimiter, type RateLimiter } from '#lib/http/rate-limits.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { createMetrics, type Metrics, watchEventLoop } from '#lib/observability/metrics.ts';

/** What the services of one process share, whichever adapters stand behind it. */
export interface Runtime {
  bus: EventBus;
  log: Logger;
  document: Document;
  limiter: RateLimiter;
  /** What other replicas have been told of credentials; absent where there are none. */
  introspections?: SharedIntrospections;
  instance: PageInstance;
  metrics: Metrics;
  guard: OverloadGuard;
}

/** The runtime, for the one who makes and ends them. */
export interface OwnedRuntime {
  shared: Runtime;
  /** The database of a service: its schema, through a pool of its own. */
  openDatabase(schema: string, url: string): { db: Database; pool: ReturnType<typeof createPool> };
  /** Whether PostgreSQL answers: readiness rests on nothing else (reliability.md, "Lifecycle"). */
  isReady(): Promise<boolean>;
  start(): void;
  /** Takes no more events, so that other replicas get them. */
  stopReading(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  settings: ProcessSettings;
  baseUrl: string;
  /** The process's name where others see it. */
  name: string;
  log: Logger;
  /** Secrets that the replicas of this process have in common: the first seals, all open. */
  replicaSecrets?: readonly Uint8Array[];
}

/** Chooses and makes the adapters of a process by its settings: the one place that knows which ones run. */
export async function createRuntime(options: Options): Promise<OwnedRuntime> {
  const { settings, baseUrl, name, log } = options;
  const metrics = createMetrics();
  const loop = watchEventLoop();
  const guard = createOverloadGuard({
    limits: {
      inFlight: settings.MAX_IN_FLIGHT,
      delayMs: settings.MAX_EVENT_LOOP_DELAY,
      waitMs: settings.MAX_QUEUE_WAIT,
    },
    readDelay: loop.read,
    metrics: metrics.http,
  });
  metrics.watchLoad(guard.load);
  const bus = await createBus({
    brokers: settings.KAFKA_BROKERS,
    clientId: name,
    log,
    metrics: metrics.events,
  });
  const link = await openRedis(settings.REDIS_URL, log);
  const counters = link ? createRedisCounters({ link, replicas: settings.REPLICAS }) : createMemoryCounters();
  const pools: ReturnType<typeof createPool>[] = [];
  const answering: (() => Promise<boolean>)[] = [];
  return {
    shared: {
      ...{ bus, log, metrics, guard },
      document: readContract(new URL('../../openapi.yaml', import.meta.url)),
      limiter: createRateLimiter(settings.RATE_LIMITS, counters),
      introspections: link && shareIntrospections(link, options),
      instance: { name: settings.INSTANCE_NAME, baseUrl, timeZone: settings.INSTANCE_TIME_ZONE },
    },
    openDatabase(schema, url) {
      const pool = createPool({ url, schema, log });
      pools.push(pool);
      answering.push(watchAnswers(pool));
      metrics.watchPool(schema, pool);
      return { db: createDatabase({ pool }), pool };
    },
    isReady: async () => (await Promise.all(answering.map((answers) => answers()))).every(Boolean),
    start: bus.start,
    // Within one process nobody else would take them, and what is still in the outbox has to get through.
    stopReading: settings.KAFKA_BROKERS ? bus.stopReading : async () => {},
    async stop() {
      await bus.stop();
      loop.stop();
      link?.stop();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** @returns undefined without a Redis: then what speaks to it is not loaded either. */
async function openRedis(url: string | undefined, log: Logger): Promise<RedisLink | undefined> {
  if (!url) return undefined;
  const { createRedisLink } = await import('#lib/cache/redis-link.ts');
  return createRedisLink({ url, log });
}

/** Replicas of one service share what they know of credentials, and no other service can make it up. */
function shareIntrospections(
  link: RedisLink,
  { name, replicaSecrets: secrets = [] }: Options,
): SharedIntrospections | undefined {
  if (secrets.length === 0) return undefined;
  const cache = createRedisCache({ link, name: `introspections:${name}` });
  return createSharedIntrospections({ cache, secrets, maxAgeMs: introspectionMaxAgeMs });
}
