import path from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { str } from 'envalid';
import { databaseUrl } from '#lib/config/address-validators.ts';
import { databaseLogin, readDatabasePassword } from '#lib/config/secret-files.ts';
import { readSettings } from '#lib/config/settings.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { findRunningPostgres, startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { migrate } from '#lib/db/migrate.ts';
import { createPool } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { Failure, StartupError } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { authService } from '../service.ts';

/**
 * Runs an operator's command on the service's database and prints its output. A StartupError prints its
 * message and exits with 1.
 * @param prepare reads arguments and input before the database is opened.
 */
export async function runTool(
  prepare: () => Promise<(opened: OpenedDatabase) => Promise<string>>,
): Promise<void> {
  try {
    const command = await prepare();
    const opened = await openAuthDatabase(process.env);
    try {
      process.stdout.write(`${await command(opened)}\n`);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** The service's database, opened for a command. */
export interface OpenedDatabase {
  db: Database;
  secretsFolder: string;
  close(): Promise<void>;
}

const specs = {
  DATABASE_URL: databaseUrl({ default: undefined }),
  DATA_DIR: str({ default: undefined }),
  SECRETS_DIR: str({ default: undefined }),
};

/** As root, Accord may use the second default folder. */
const defaultFolders = ['./data', '/var/lib/accord'];

/**
 * Opens DATABASE_URL, else the embedded database of DATA_DIR, whether Accord is running or not.
 * @throws StartupError.
 */
async function openAuthDatabase(environment: Record<string, string | undefined>): Promise<OpenedDatabase> {
  const settings = readSettings(environment, specs);
  const log = createLogger({ level: 'error' });
  const given = settings.DATABASE_URL && (await asService(settings.DATABASE_URL, settings.SECRETS_DIR));
  const { url, dataDir, stop } = await findDatabase(given, settings.DATA_DIR);
  try {
    await migrate({ url, schemas: [authService], log, dataDir: given ? undefined : dataDir });
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

/** Signs in with the role of this service if SECRETS_DIR has its password. */
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

/**
 * Reads a new password: twice without echo from a terminal, otherwise the first line of standard input.
 * Not an argument, because every user of the machine can read those.
 */
export async function readNewPassword(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  if (!input.isTTY) return readLine(input);
  const ask = async (question: string) => {
    output.write(question);
    const answer = await readLine(input, { hidden: true });
    output.write('\n');
    return answer;
  };
  const password = await ask('Password: ');
  if ((await ask('Repeat the password: ')) !== password)
    throw new StartupError('The passwords differ; nothing was changed.');
  return password;
}

function readLine(input: NodeJS.ReadStream, { hidden = false } = {}): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silence, terminal: hidden });
  return new Promise((done, refuse) => {
    lines.once('SIGINT', () => refuse(new StartupError('Interrupted; nothing was changed.')));
    lines.once('line', (line) => {
      done(line);
      lines.close();
    });
    lines.once('close', () => done(''));
  });
}
