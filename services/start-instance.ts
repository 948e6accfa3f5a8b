import path from 'node:path';
import { loadSecrets } from '#lib/config/secrets.ts';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { holdAlone } from '#lib/db/hold-alone.ts';
import { migrate } from '#lib/db/migrate.ts';
import { listen } from '#lib/http/listen.ts';
import type { Running } from '#lib/lifecycle/run-process.ts';
import { createLogger, type Logger } from '#lib/observability/logger.ts';
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

const drainMs = 10_000;

/**
 * Starts every service in this process: the address first, so that a taken port is told before anything else is touched,
 * then the database, migrations, services; ready when all are.
 * @throws StartupError with one sentence.
 */
export async function startInstance(environment: Record<string, string | undefined>): Promise<Instance> {
  const settings = readInstanceSettings(environment);
  const log = createLogger({ level: settings.LOG_LEVEL });
  const front = createStartingFront();
  const listener = await listen(front.handle, { host: settings.HOST, port: settings.PORT });
  const started: Running[] = [];
  const stop = async () => {
    front.stopping();
    // The address first: nothing new comes in while requests finish and services end.
    await listener.close(drainMs);
    for (const part of [...started].reverse()) await part.stop();
  };
  try {
    const baseUrl = settings.BASE_URL ?? `http://localhost:${listener.port}`;
    const data = await openData(settings, log, started);
    const secrets = await loadSecrets({
      folder: settings.SECRETS_DIR ?? path.join(data.dataDir, 'secrets'),
      generate: true,
    });
    await migrate({ url: data.url, schemas, log });
    const services = await composeInstance({
      settings,
      baseUrl,
      databaseUrl: data.url,
      secrets,
      log,
    });
    started.push(services);
    await services.start();
    front.ready(services.handle, services.isReady);
    return {
      baseUrl,
      welcome: welcomeLines(settings, baseUrl, {
        authUrl: services.authUrl,
        setupLink: services.setupLink,
      }),
      stop,
    };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/** The database given, or the embedded one; and the folder where secrets are kept. */
async function openData(
  settings: InstanceSettings,
  log: Logger,
  started: Running[],
): Promise<{ url: string; dataDir: string }> {
  const dataDir = settings.DATA_DIR ?? './data';
  if (settings.DATABASE_URL) {
    started.push(await holdDatabase(settings.DATABASE_URL, log));
    return { url: settings.DATABASE_URL, dataDir: path.resolve(dataDir) };
  }
  const embedded = await startEmbeddedPostgres({ dataDir, named: settings.DATA_DIR !== undefined, log });
  started.push(embedded);
  return { url: embedded.connectionString, dataDir: embedded.dataDir };
}

/** Events stay within this process, so it must be the only one (architecture.md, "One process or many"). */
async function holdDatabase(url: string, log: Logger): Promise<Running> {
  const onLost = () => {
    log.error('another process has taken the database; this one ends');
    process.exit(1);
  };
  const { release } = await holdAlone({ url, onLost });
  return { stop: release };
}
