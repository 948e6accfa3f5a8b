import path from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { findRunningPostgres } from '#lib/db/embedded/find-running-postgres.ts';
import { readPostmasterFile } from '#lib/db/embedded/postmaster-file.ts';
import { freePort } from '#lib/lifecycle/free-port.ts';
import { createKey } from '../support/callers.ts';
import { contractFetch } from '../support/contract.ts';
import { startStandalone } from '../support/standalone-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { findBreaches } from './checker.ts';
import { type Client, createClient } from './client.ts';
import { type Load, startLoad, subjectPrefix } from './load.ts';
import type { Random } from './random.ts';
import { endLeases, keepEvents, readStored } from './stored.ts';

const patience = { timeout: 30_000, interval: 20 };
const people = 8;

/** What happens to an instance. */
export type Blow = 'kill -9 of Accord' | 'kill -9 of PostgreSQL' | 'kill -9 of both' | 'SIGTERM';

/** An instance on a folder of its own, and people at work on it. */
export interface UnderLoad {
  client: Client;
  /** Waits until so many more requests are answered, strikes, and starts what has ended. @returns the exit code of Accord, if it ended. */
  strike(blow: Blow, after: number): Promise<number | null | undefined>;
  /** Lets everybody finish, and compares what they were told with what is stored. */
  breaches(): Promise<string[]>;
}

/** Starts an instance and the load on it; both end with the test. */
export async function startUnderLoad(random: Random): Promise<UnderLoad> {
  const dataDir = path.join(await temporaryFolder(), 'data');
  // Tokens are of an address: it stays.
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const start = () => startStandalone({ DATA_DIR: dataDir, PORT: String(port) });
  let accord = start();
  onTestFinished(async () => void (await accord.kill()));
  await accord.ready;
  const database = () => vi.waitUntil(() => findRunningPostgres(dataDir), patience) as Promise<string>;
  await keepEvents(await database());
  const { headers } = await createKey({ url: baseUrl, fetch: contractFetch(baseUrl) });
  const isUp = () => vi.waitFor(() => expectReady(baseUrl), patience);
  const client = createClient({ baseUrl, headers, isUp });
  const load: Load = startLoad(client, random, people);

  async function killPostgres(): Promise<void> {
    const file = await readPostmasterFile(path.join(dataDir, 'postgresql', 'data'));
    if (file) process.kill(file.pid, 'SIGKILL');
  }
  return {
    client,
    async strike(blow, after) {
      const before = client.done();
      await vi.waitUntil(() => client.done() >= before + after, { ...patience, interval: 1 });
      if (blow.endsWith('PostgreSQL') || blow.endsWith('both')) await killPostgres();
      if (blow.endsWith('PostgreSQL')) return undefined;
      const { code } = await (blow === 'SIGTERM' ? accord.stop() : accord.kill());
      accord = start();
      await accord.ready;
      return code;
    },
    async breaches() {
      await load.end();
      await endLeases(await database());
      const stored = await vi.waitUntil(async () => {
        const now = await readStored(await database(), subjectPrefix);
        return now.waiting === 0 && now;
      }, patience);
      return findBreaches(client.history, stored);
    },
  };
}

async function expectReady(baseUrl: string): Promise<void> {
  const { status } = await fetch(`${baseUrl}/readyz`);
  if (status !== 200) throw new Error('It is not ready.');
}
