import { rm } from 'node:fs/promises';
import path from 'node:path';
import { freePort, readPostmasterFile } from '#lib/db/embedded/postmaster.ts';
import { findRunningPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { contractFetch } from '../../support/contract/contract.ts';
import { createKey } from '../../support/instances/callers.ts';
import { keepEvents } from '../check/stored.ts';
import { atOnce, type Fault } from '../faults/fault.ts';
import { waitUntil } from '../wait-until.ts';
import { gatherStored } from './gather.ts';
import { startMailbox } from './mailbox.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';
import { openFolder, type World } from './world.ts';

/** As `npm start` runs it: one process that holds a PostgreSQL of its own. */
export async function startEmbeddedWorld(): Promise<World> {
  const folder = await openFolder();
  const dataDir = path.join(folder, 'data');
  // Tokens are of an address: it stays.
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const mailbox = await startMailbox();
  const accord = createServiceProcess({
    name: 'accord',
    service: 'accord',
    program: 'services/standalone.ts',
    environment: {
      PORT: String(port),
      DATA_DIR: dataDir,
      RATE_LIMITS: 'off',
      MAX_EVENT_LOOP_DELAY: '0',
      ...mailbox.settings,
    },
    isReady: async () => (await fetch(`${baseUrl}/readyz`)).status === 200,
  });
  const database = () => waitUntil('PostgreSQL runs', () => findRunningPostgres(dataDir));
  async function stop(): Promise<void> {
    await accord.stop();
    await mailbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
  try {
    await accord.start();
    await keepEvents(await database());
    const { headers } = await createKey({ url: baseUrl, fetch: contractFetch(baseUrl) });
    return {
      baseUrl,
      headers,
      mailbox,
      stop,
      faults: [...embeddedFaults(accord, dataDir), ...mailbox.faults],
      lostReplies: () => 0,
      gather: async () => ({ stored: await gatherStored(await database()), misconduct: accord.misconduct() }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Accord finds the PostgreSQL that it left behind, and starts the one that has ended. */
function embeddedFaults(accord: ServiceProcess, dataDir: string): Fault[] {
  const killPostgres = async () => {
    const file = await readPostmasterFile(path.join(dataDir, 'postgresql', 'data'));
    if (file) process.kill(file.pid, 'SIGKILL');
  };
  const blow = (name: string, act: () => Promise<unknown>, isDown = true): Fault => ({
    name,
    breaks: 'accord',
    lasts: atOnce,
    async strike() {
      await act();
      return async () => void (isDown && (await accord.start()));
    },
  });
  return [
    blow('kill -9 of accord', accord.kill),
    blow('kill -9 of its PostgreSQL', killPostgres, false),
    blow('kill -9 of both', async () => {
      await killPostgres();
      await accord.kill();
    }),
    blow('SIGTERM of accord', accord.stop),
  ];
}
