import path from 'node:path';
import { loadSecrets, warnOfMode } from '#lib/config/secrets.ts';
import { resolveSignIn } from '#lib/config/sign-in-specs.ts';
import { acquireAdvisoryLock } from '#lib/db/advisory-lock.ts';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { hasRows } from '#lib/db/has-rows.ts';
import { migrate } from '#lib/db/migrate.ts';
import { listen } from '#lib/http/listen.ts';
import { createProbes } from '#lib/http/probes.ts';
import { createInternalFront } from '#lib/internal/internal-front.ts';
import { createLogger, type Logger } from '#lib/observability/logger.ts';
import type { Running } from '#lib/runtime/run-process.ts';
import { type ProcessParts, stopParts } from '#lib/runtime/stop-parts.ts';
import { composeInstance } from './compose-instance.ts';
import { schemas } from './schemas.ts';
import { type InstanceSettings, readInstanceSettings } from './settings.ts';
import { createStartingFront } from './starting-front.ts';
import { welcomeLines } from './welcome-lines.ts';

export interface Instance extends Running {
  baseUrl: string;
  /** What a newcomer needs next: addresses, accounts, a curl line. */
  welcome: string;
}

/**
 * Starts every service in this process: the address first, so that a taken port is told before anything else is touched,
 * then the database, migrations, services; ready when all are.
 * @throws StartupError with one sentence.
 */
export async function startInstance(environment: Record<string, string | undefined>): Promise<Instance> {
  const settings = readInstanceSettings(environment);
  const { HOST: host, STOP_DELAY: delayMs } = settings;
  const log = createLogger({ level: settings.LOG_LEVEL });
  const probes = createProbes();
  const front = createStartingFront(probes);
  const internal = createInternalFront(probes);
  const parts: ProcessParts = { probes, front: await listen(front.handle, { host, port: settings.PORT }) };
  let data: Data | undefined;
  const stop = async () => {
    await stopParts(parts, delayMs);
    await data?.stop();
  };
  try {
    if (settings.INTERNAL_PORT !== undefined)
      parts.internal = await listen(internal.handle, {
        ...{ host, port: settings.INTERNAL_PORT, setting: 'INTERNAL_PORT' },
      });
    const baseUrl = settings.BASE_URL ?? `http://localhost:${parts.front?.port}`;
    data = await openData(settings, log);
    const { url } = data;
    const secrets = await loadSecrets({
      folder: settings.SECRETS_DIR ?? path.join(data.dataDir, 'secrets'),
      // Of several processes each would make its own.
      generate: settings.KAFKA_BROKERS === undefined,
      isDatabaseUsed: () => hasRows(url, usedTables),
      onOpenToOthers: (file) => warnOfMode(log, file),
    });
    await migrate({ url: data.url, schemas, log });
    const services = await composeInstance({ settings, baseUrl, databaseUrl: data.url, secrets, log });
    const { surroundings } = services;
    Object.assign(parts, { service: services, surroundings });
    const notices = await services.start();
    surroundings.shared.metrics.watchProcess();
    internal.open(surroundings.shared);
    front.open(services.handle);
    probes.ready(surroundings.isReady);
    const facts = { ...resolveSignIn(settings, baseUrl), dataDir: data.dataDir, notices };
    return { baseUrl, welcome: welcomeLines(settings, baseUrl, facts), stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/**
 * What is signed, hashed or sealed with the secrets leaves a row in one of these, and so does a first start. Accounts and clients do not
 * count: operators may make them before the first start.
 */
const usedTables = [
  ...['auth.setup_links', 'auth.api_keys', 'forms.models'],
  ...['transactions.transactions', 'peers.peers', 'webhooks.webhooks'],
];

/** Where data are, and what has to be let go of in the end. */
interface Data extends Running {
  url: string;
  /** Where secrets are kept, unless SECRETS_DIR says otherwise. */
  dataDir: string;
}

/** The database given, or the embedded one. */
async function openData(settings: InstanceSettings, log: Logger): Promise<Data> {
  const dataDir = settings.DATA_DIR ?? './data';
  if (settings.DATABASE_URL) {
    const url = settings.DATABASE_URL;
    // With Kafka events reach other processes, and there may be as many as one likes.
    const held = settings.KAFKA_BROKERS ? { stop: async () => {} } : await holdDatabase(url, log);
    return { url, dataDir: path.resolve(dataDir), stop: held.stop };
  }
  const embedded = await startEmbeddedPostgres({ dataDir, named: settings.DATA_DIR !== undefined, log });
  return { url: embedded.connectionString, dataDir: embedded.dataDir, stop: () => embedded.stop() };
}

/** Events stay within this process, so it must be the only one (architecture.md, "One process or many"). */
async function holdDatabase(url: string, log: Logger): Promise<Running> {
  const onLost = () => {
    log.error('another process has taken the database; this one ends');
    process.exit(1);
  };
  const { release } = await acquireAdvisoryLock({ url, onLost });
  return { stop: release };
}
