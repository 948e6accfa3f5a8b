import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type LoadedSecrets, loadSecrets, type Secrets } from '#lib/config/secrets.ts';
import { createDatabase } from '#lib/db/database.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { hashPublicPassword } from '../../../services/auth/domain/password.ts';
import { insertAccount } from '../../../services/auth/queries/accounts.ts';
import { composeInstance } from '../../../services/compose-instance.ts';
import { definitions } from '../../../services/definitions.ts';
import { readInstanceSettings } from '../../../services/settings.ts';
import { contractFetch } from '../contract/contract.ts';
import { type PrefixRouter, routesTo, startPrefixRouter } from '../network/prefix-router.ts';
import { createTestDatabase } from '../stores/postgres.ts';
import { startTestRedis } from '../stores/redis.ts';
import { type StandaloneProcess, startStandalone } from './standalone-process.ts';

/** Redis is only missed where it is. */
const nowhere = 'redis://127.0.0.1:9';
const root = path.join(import.meta.dirname, '..', '..', '..');

/** One process of one service. */
export interface Replica {
  service: string;
  url: string;
  internalUrl: string;
  /** The process of this moment. */
  process(): StandaloneProcess;
  /** All that its processes have said. */
  said(): string;
  /** Starts it again at the same address. Resolves when it is ready. */
  start(): Promise<void>;
  /** SIGTERM, and start again when it has ended. @returns its exit code. */
  restart(): Promise<number | null>;
}

/** Accord as separate processes behind a prefix router, on real PostgreSQL, Kafka and Redis. */
export interface DistributedInstance {
  url: string;
  databaseUrl: string;
  secrets: LoadedSecrets<keyof Secrets>;
  replicas: readonly Replica[];
  router: PrefixRouter;
  /** Fetches a path or URL of the instance and checks the response against the contract. */
  fetch: ReturnType<typeof contractFetch>;
  /** All that its processes have said. */
  logs(): string;
  /** Ends with SIGTERM all at once. @returns their exit codes. */
  stop(): Promise<(number | null)[]>;
}

interface Options {
  /** Of each service. */
  replicas?: number;
  kafkaBrokers: string;
  /** Without it the instance has a Redis of its own. */
  redisUrl?: string;
  /** Settings that differ. */
  environment?: Record<string, string>;
  /** Of one service alone. */
  environmentOf?: Record<string, Record<string, string>>;
  /** What stands in front of the services; without it a plain prefix router. */
  startRouter?: () => Promise<PrefixRouter>;
}

/**
 * Starts every service as processes, with the demonstration's models and accounts (admin, operator, user;
 * password demo) in the database: the processes themselves know no demonstration.
 */
export async function startDistributedInstance(options: Options): Promise<DistributedInstance> {
  const { replicas: count = 2 } = options;
  const database = await createTestDatabase();
  const redis = options.redisUrl ? null : await startTestRedis();
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-test-secrets-'));
  const services = definitions.map(({ name }) => name);
  const secrets = await loadSecrets({ folder, callers: services, generate: true });
  const places = await Promise.all(
    services.flatMap((service) => Array.from({ length: count }, () => findPlace(service))),
  );
  const router = await (options.startRouter ?? startPrefixRouter)();
  router.serve(routesTo((service) => places.filter((place) => place.service === service)));
  await seedInstance({ url: router.url, databaseUrl: database.url, secrets });
  const replicas = places.map((place) =>
    createReplica(place, {
      HOST: '127.0.0.1',
      BASE_URL: router.url,
      SECRETS_DIR: folder,
      RATE_LIMITS: 'off',
      DATABASE_URL: withoutUser(database.url),
      KAFKA_BROKERS: options.kafkaBrokers,
      REDIS_URL: options.redisUrl ?? redis?.address ?? nowhere,
      STOP_DELAY: '0.5',
      LOG_LEVEL: 'info',
      // How busy the machine is decides no test.
      MAX_EVENT_LOOP_DELAY: '0',
      ...neighbours(places),
      ...options.environment,
      ...options.environmentOf?.[place.service],
    }),
  );
  const stop = async () => {
    await router.stop();
    const ended = await Promise.all(replicas.map((replica) => replica.process().stop()));
    await Promise.all([database.drop(), redis?.stop()]);
    await rm(folder, { recursive: true, force: true });
    return ended.map(({ code }) => code);
  };
  try {
    await Promise.all(replicas.map((replica) => replica.start()));
    await router.seen(replicas.length);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: router.url,
    databaseUrl: database.url,
    secrets,
    replicas,
    router,
    stop,
    fetch: contractFetch(router.url),
    logs: () => replicas.map((replica) => replica.said()).join(''),
  };
}

interface Place {
  service: string;
  port: number;
  internalPort: number;
  url: string;
  internalUrl: string;
}

async function findPlace(service: string): Promise<Place> {
  const [port, internalPort] = [await freePort(), await freePort()];
  return {
    service,
    port,
    internalPort,
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
  };
}

/** AUTH_INTERNAL_URL, … */
function neighbours(places: readonly Place[]): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const { service, internalUrl } of places) {
    const name = `${service.toUpperCase()}_INTERNAL_URL`;
    urls[name] = urls[name] ? `${urls[name]},${internalUrl}` : internalUrl;
  }
  return urls;
}

function createReplica(place: Place, environment: Record<string, string>): Replica {
  const { service, url, internalUrl, port, internalPort } = place;
  const program = path.join(root, 'services', service, 'main.ts');
  const settings = { ...environment, PORT: String(port), INTERNAL_PORT: String(internalPort) };
  let current = startLater();
  let before = '';
  const start = async () => {
    before += current.said();
    current = startStandalone(settings, program);
    await current.ready;
  };
  return {
    service,
    url,
    internalUrl,
    start,
    process: () => current,
    said: () => before + current.said(),
    async restart() {
      const { code } = await current.stop();
      await start();
      return code;
    },
  };
}

/** What stands for a process before there is one. */
function startLater(): StandaloneProcess {
  const ended = Promise.resolve({ code: null, output: '', errors: '' });
  return {
    ended,
    ready: Promise.reject(new Error('It was never started.')).catch(() => '') as Promise<string>,
    said: () => '',
    stop: () => ended,
    kill: () => ended,
  } as unknown as StandaloneProcess;
}

/**
 * On the test run's own PostgreSQL, which believes who says who they are, each service signs in with its own
 * role.
 */
function withoutUser(databaseUrl: string): string {
  if (process.env.DATABASE_URL) return databaseUrl;
  const url = new URL(databaseUrl);
  url.username = '';
  return url.href;
}

/**
 * Runs once as one process in demo mode, which makes the models; then makes the accounts, which are the
 * demonstration's own.
 */
export async function seedInstance({
  url,
  databaseUrl,
  secrets,
}: {
  url: string;
  databaseUrl: string;
  secrets: Secrets;
}): Promise<void> {
  const log = createLogger({ level: 'error' });
  const settings = readInstanceSettings({ BASE_URL: url, DEMO: 'true' });
  const services = await composeInstance({ settings, baseUrl: url, databaseUrl, secrets, log });
  await services.start();
  await services.stop();
  await services.runtime.stop();
  const pool = createPool({ url: databaseUrl, schema: 'auth', log, max: 1 });
  const db = createDatabase({ pool });
  const passwordHash = await hashPublicPassword('demo');
  for (const name of ['admin', 'operator', 'user'] as const)
    await insertAccount(db, { name, role: name, passwordHash });
  await pool.end();
}
