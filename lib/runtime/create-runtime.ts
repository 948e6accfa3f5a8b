import type { Document } from 'openapi-backend';
import { createMemoryCounters, createRedisCounters } from '#lib/cache/counters.ts';
import type { RedisLink } from '#lib/cache/redis-link.ts';
import { defaultSettings, pinnedBy } from '#lib/config/instance-settings.ts';
import { readKafkaSecurity } from '#lib/config/kafka-security.ts';
import { redisLogin } from '#lib/config/secret-files.ts';
import type { ProcessSettings } from '#lib/config/specs.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool, openConnections, type PoolOptions, watchAnswers } from '#lib/db/pool.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createBus } from '#lib/events/in-process-bus.ts';
import { createOverloadGuard, type OverloadGuard } from '#lib/http/admission.ts';
import { readContract } from '#lib/http/contract-document.ts';
import { createPacer, type Pacer } from '#lib/http/pacer.ts';
import { createRateLimiter, type RateLimiter } from '#lib/http/rate-limits.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { createMetrics, type Metrics, watchEventLoop } from '#lib/observability/metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import {
  createLiveSettings,
  createSettingsFollower,
  type Instance,
  type LiveSettings,
} from '#lib/runtime/live-settings.ts';

/** The parts that the services of one process share; each hides which adapter is used. */
export interface Runtime {
  bus: EventBus;
  log: Logger;
  document: Document;
  limiter: RateLimiter;
  instance: Instance;
  liveSettings: LiveSettings;
  metrics: Metrics;
  guard: OverloadGuard;
  /** Undefined if RATE_LIMITS is off. */
  pacer?: Pacer | undefined;
  /** Undefined unless traces are exported. */
  tracing?: Tracing | undefined;
}

/** The runtime with its lifecycle, for the process that starts and stops it. */
export interface OwnedRuntime {
  shared: Runtime;
  /** Has a service keep a copy of the settings of the instance. */
  followSettings(service: string, db: Database): Promise<void>;
  /** Opens the schema of a service through a pool of its own. */
  openDatabase(
    schema: string,
    login: Pick<PoolOptions, 'url' | 'otherPasswords'>,
  ): { db: Database; pool: ReturnType<typeof createPool> };
  /** Whether PostgreSQL answers; readiness depends on nothing else (docs/reliability.md). */
  isReady(): Promise<boolean>;
  /** Opens connections to PostgreSQL before the first request. */
  warmUp(): Promise<void>;
  start(): void;
  /** Stops consuming events, so that other replicas get them. */
  stopReading(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  settings: ProcessSettings;
  baseUrl: string;
  /** The name of the process, as Kafka's brokers see it. */
  name: string;
  /** Whether the instance shows the demonstration. */
  isDemo: boolean;
  log: Logger;
}

/** Creates the adapters that the settings ask for. No other code knows which adapters are used. */
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
  const pacer = settings.RATE_LIMITS === 'off' ? undefined : createPacer({ onHeld: metrics.http.held });
  const tracing = await openTracing(options);
  const bus = await createBus({
    brokers: settings.KAFKA_BROKERS,
    security: await readKafkaSecurity(settings, settings.SECRETS_DIR),
    clientId: name,
    log,
    metrics: metrics.events,
    tracing,
  });
  const link = await openRedis(settings, log);
  const counters = link ? createRedisCounters({ link, replicas: settings.REPLICAS }) : createMemoryCounters();
  const liveSettings = createLiveSettings({
    baseUrl,
    pinned: pinnedBy(settings),
    defaults: defaultSettings(new URL(baseUrl).hostname, options.isDemo),
  });
  const isShared = settings.KAFKA_BROKERS !== undefined;
  const follower = createSettingsFollower({ live: liveSettings, bus, log, isShared });
  const pools: ReturnType<typeof createPool>[] = [];
  const answering: (() => Promise<boolean>)[] = [];
  return {
    shared: {
      bus,
      log,
      metrics,
      guard,
      pacer,
      tracing,
      document: readContract(new URL('../../openapi.yaml', import.meta.url)),
      limiter: createRateLimiter(settings.RATE_LIMITS, counters),
      instance: liveSettings.instance,
      liveSettings,
    },
    followSettings: follower.follow,
    openDatabase(schema, login) {
      const pool = createPool({ ...login, schema, log });
      pools.push(pool);
      answering.push(watchAnswers(pool));
      metrics.watchPool(schema, pool);
      return { db: createDatabase({ pool }), pool };
    },
    isReady: async () => (await Promise.all(answering.map((answers) => answers()))).every(Boolean),
    warmUp: async () => void (await Promise.all(pools.map((pool) => openConnections(pool)))),
    start() {
      bus.start();
      follower.start();
    },
    // Events inside one process have no other reader, and the outbox must still be drained.
    stopReading: settings.KAFKA_BROKERS ? bus.stopReading : async () => {},
    async stop() {
      await follower.stop();
      await bus.stop();
      loop.stop();
      link?.stop();
      await Promise.all([tracing?.stop(), ...pools.map((pool) => pool.end())]);
    },
  };
}

/** Loads the Redis driver only if it is used. */
async function openRedis(
  { REDIS_URL, REDIS_CA: ca, SECRETS_DIR }: ProcessSettings,
  log: Logger,
): Promise<RedisLink | undefined> {
  if (!REDIS_URL) return undefined;
  const { createRedisLink } = await import('#lib/cache/redis-link.ts');
  return createRedisLink({ url: await redisLogin(REDIS_URL, SECRETS_DIR), ca, log });
}

/** Loads the SDK of OpenTelemetry only if traces are exported. */
async function openTracing({ settings, name, log }: Options): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = settings;
  if (!endpoint) return undefined;
  const { createOtlpTracing } = await import('#lib/observability/otlp-tracing.ts');
  return createOtlpTracing({
    endpoint,
    headers,
    serviceName: settings.OTEL_SERVICE_NAME ?? (name === 'accord' ? name : `accord-${name}`),
    ratio: settings.OTEL_TRACES_SAMPLER_ARG,
    log,
  });
}
