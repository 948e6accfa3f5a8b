import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { str } from 'envalid';
import { databaseLogin, readDatabasePassword } from '#lib/config/database-login.ts';
import { readSettings } from '#lib/config/read-settings.ts';
import { databaseUrl } from '#lib/config/validators.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { findRunningPostgres } from '#lib/db/embedded/find-running-postgres.ts';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { migrate } from '#lib/db/migrate.ts';
import { createPool } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { createLogger } from '#lib/observability/logger.ts';

/** The service's database, opened by a tool of the operator. */
export interface OpenedDatabase {
  db: Database;
  /** Where the instance's secrets are. */
  secretsFolder: string;
  close(): Promise<void>;
}

const specs = {
  DATABASE_URL: databaseUrl({ default: undefined }),
  DATA_DIR: str({ default: undefined }),
  SECRETS_DIR: str({ default: undefined }),
};

/** As root the default folder may be another (architecture.md, "One process or many"). */
const defaultFolders = ['./data', '/var/lib/accord'];

/**
 * Opens the database that Accord uses with these settings: DATABASE_URL, else the embedded one, whether Accord is running or not.
 * @throws StartupError with one sentence.
 */
export async function openAuthDatabase(
  environment: Record<string, string | undefined>,
): Promise<OpenedDatabase> {
  const settings = readSettings(environment, specs);
  const log = createLogger({ level: 'error' });
  const given = settings.DATABASE_URL && (await asService(settings.DATABASE_URL, settings.SECRETS_DIR));
  const { url, dataDir, stop } = await findDatabase(given, settings.DATA_DIR);
  const folder = fileURLToPath(new URL('../migrations', import.meta.url));
  try {
    await migrate({ url, schemas: [{ schema: 'auth', folder }], log });
  } catch (error) {
    await stop();
    throw error;
  }
  const pool = createPool({ url, schema: 'auth', log, max: 1 });
  return {
    db: createDatabase({ pool }),
    secretsFolder: settings.SECRETS_DIR ?? path.join(dataDir, 'secrets'),
    async close() {
      await pool.end();
      await stop();
    },
  };
}

/** Beside services that are processes of their own: as the role of this one, with the password of its file. */
async function asService(url: string, secretsDir: string | undefined): Promise<string> {
  if (!secretsDir || (await readDatabasePassword(secretsDir, 'auth')) === undefined) return url;
  return databaseLogin(url, { user: roleOf('auth'), name: 'auth', secretsDir });
}

async function findDatabase(
  given: string | undefined,
  dataDir: string | undefined,
): Promise<{ url: string; dataDir: string; stop(): Promise<void> }> {
  const nothing = async () => {};
  if (given) return { url: given, dataDir: path.resolve(dataDir ?? './data'), stop: nothing };
  for (const folder of dataDir ? [dataDir] : defaultFolders) {
    const url = await findRunningPostgres(folder);
    if (url) return { url, dataDir: path.resolve(folder), stop: nothing };
  }
  const log = createLogger({ level: 'error' });
  const embedded = await startEmbeddedPostgres({
    dataDir: dataDir ?? './data',
    named: dataDir !== undefined,
    log,
  });
  return { url: embedded.connectionString, dataDir: embedded.dataDir, stop: () => embedded.stop() };
}
