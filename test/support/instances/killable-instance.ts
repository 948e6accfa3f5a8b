import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { loadSecrets } from '#lib/config/secrets.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { temporaryFolder } from '../programs/temporary-folder.ts';
import { until } from '../run/until.ts';
import { createTestDatabase } from '../stores/postgres.ts';
import { callerWith, createKey, patient } from './callers.ts';
import { seedInstance } from './distributed-instance.ts';
import { rowsOf, runInDatabase } from './live-database.ts';
import { startStandalone } from './standalone-process.ts';

/**
 * An instance in a process of its own, which can be killed and started again at the same address. Beside
 * Kafka it is no demonstration, and gets its secrets and the accounts of one here.
 */
export async function startKillableInstance(settings: Record<string, string> = {}) {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const folder = await temporaryFolder();
  const program = {
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    SECRETS_DIR: path.join(folder, 'secrets'),
    PORT: String(port),
    BASE_URL: url,
  };
  const secrets = await loadSecrets({ folder: program.SECRETS_DIR, generate: true });
  if (settings.KAFKA_BROKERS) await seedInstance({ url, databaseUrl: database.url, secrets });
  const launch = (databaseUrl = database.url) =>
    startStandalone({ ...program, ...settings, DATABASE_URL: databaseUrl });
  let accord = launch();
  onTestFinished(async () => void (await accord.kill()));
  await accord.ready;
  const instance = { url, fetch: (to: string, init?: RequestInit) => fetch(new URL(to, url), init) };
  const { headers } = await createKey(instance);
  return {
    database: database.url,
    program,
    instance,
    shop: patient(callerWith(instance, headers)),
    async kill() {
      const ended = await accord.kill();
      await sessionsEnded(database.url);
      await runInDatabase({ databaseUrl: database.url }, endLeases);
      return ended;
    },
    /** @param databaseUrl another database than before, such as one that was restored. */
    async startAgain(databaseUrl?: string) {
      accord = launch(databaseUrl);
      await accord.ready;
    },
  };
}

/** Ends what the killed process had leased in any table, which would otherwise expire within 30 s. */
const endLeases = `
  DO $$
  DECLARE leased record;
  BEGIN
    FOR leased IN SELECT table_schema, table_name FROM information_schema.columns
                   WHERE column_name = 'lease_until'
    LOOP
      EXECUTE format('UPDATE %I.%I SET lease_until = now() WHERE lease_until > now()',
                     leased.table_schema, leased.table_name);
    END LOOP;
  END $$`;

/**
 * Waits for the statements of a killed process, which PostgreSQL completes, but for those that wait for a
 * lock.
 */
function sessionsEnded(databaseUrl: string): Promise<void> {
  const left = `SELECT FROM pg_stat_activity WHERE datname = current_database()
                   AND application_name LIKE 'accord-%' AND wait_event_type IS DISTINCT FROM 'Lock'`;
  return until(async () => expect(await rowsOf({ databaseUrl }, left)).toEqual([]));
}
