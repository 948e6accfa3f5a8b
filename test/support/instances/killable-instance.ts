import { onTestFinished } from 'vitest';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { temporaryFolder } from '../programs/temporary-folder.ts';
import { createTestDatabase } from '../stores/postgres.ts';
import { callerWith, createKey, patient } from './callers.ts';
import { startStandalone } from './standalone-process.ts';

/** An instance in a process of its own, which can be killed and started again at the same address. */
export async function startKillableInstance(settings: Record<string, string> = {}) {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const program = { DATABASE_URL: database.url, DATA_DIR: await temporaryFolder(), PORT: String(port) };
  const launch = () => startStandalone({ ...program, ...settings });
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
    kill: () => accord.kill(),
    async startAgain() {
      accord = launch();
      await accord.ready;
    },
  };
}
