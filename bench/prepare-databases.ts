import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createHttpClient } from './http-client.ts';
import { createKey, writeAnswers } from './prepare-folder.ts';
import { runFlow } from './run-flow.ts';
import type { BenchPostgres } from './start-postgres.ts';
import { startServer } from './start-server.ts';

/** Equal databases on one PostgreSQL, for Accord's services and for the bare server, whole and divided. */
export interface PreparedDatabases {
  accordUrl: string;
  bareUrl: string;
  dividedUrl: string;
  secretsDir: string;
  /** An API key of scope OWNER. */
  key: string;
  /** File with pages of the sample transaction. */
  samples: string;
}

const root = path.join(import.meta.dirname, '..');

/** The demonstration's models, a sample transaction, and subjects who have answered before. */
export async function prepareDatabases({
  postgres,
  folder,
  returningSubjects,
}: {
  postgres: BenchPostgres;
  folder: string;
  returningSubjects: number;
}): Promise<PreparedDatabases> {
  const accordUrl = await postgres.createDatabase('accord');
  const secretsDir = path.join(folder, 'secrets');
  await runProgram(['services/secrets.ts', secretsDir], {});
  const { key, ...pages } = await seedDatabase({ url: accordUrl, folder, secretsDir });
  await writeAnswers(accordUrl, returningSubjects);
  await runProgram(['services/migrate.ts'], { DATABASE_URL: accordUrl, SECRETS_DIR: secretsDir });
  const samples = path.join(folder, 'samples.json');
  await writeFile(samples, JSON.stringify(pages));
  const bareUrl = await postgres.createDatabase('bare', 'accord');
  const dividedUrl = await postgres.createDatabase('divided', 'accord');
  return { accordUrl, bareUrl, dividedUrl, secretsDir, key, samples };
}

/**
 * Lets a single process make schemas, the demonstration's models and a key, and walks one subject through
 * everything.
 */
export async function seedDatabase({
  url,
  folder,
  secretsDir,
}: {
  url: string;
  folder: string;
  secretsDir: string;
}): Promise<{ key: string; form: string; final: string }> {
  const single = await startServer('services/standalone.ts', {
    DATABASE_URL: url,
    DATA_DIR: folder,
    SECRETS_DIR: secretsDir,
    PORT: '0',
    RATE_LIMITS: 'off',
    MAX_EVENT_LOOP_DELAY: '0',
    LOG_LEVEL: 'warn',
    STOP_DELAY: '0',
  });
  const client = createHttpClient({ port: single.port, connections: 1 });
  try {
    const key = await createKey(single.port);
    const pages = await runFlow({ client, key }, { subject: 'sample', order: 0 }, () => {});
    return { key, ...pages };
  } finally {
    client.close();
    await single.stop();
  }
}

async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  environment: Record<string, string>,
): Promise<void> {
  const env = { PATH: process.env.PATH, ...environment };
  await promisify(execFile)(process.execPath, [path.join(root, program), ...args], { env });
}
