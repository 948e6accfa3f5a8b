import { rm } from 'node:fs/promises';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { contractFetch } from '../../support/contract/contract.ts';
import { createKey } from '../../support/instances/callers.ts';
import { keepEvents } from '../check/stored.ts';
import { postgresFaults } from '../faults/postgres-faults.ts';
import { processFaults } from '../faults/process-faults.ts';
import { startDatabase } from './database.ts';
import { findLeaks, gatherStored } from './gather.ts';
import { startMailbox } from './mailbox.ts';
import { createServiceProcess } from './service-process.ts';
import { openFolder, type World, type WorldOptions } from './world.ts';

/** Everything in one process, on a PostgreSQL of its own (DATABASE_URL). */
export async function startStandaloneWorld({
  bug,
  random,
  patienceMs,
  logFolder,
}: WorldOptions): Promise<World> {
  const folder = await openFolder();
  const database = await startDatabase(random);
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const mailbox = await startMailbox();
  const accord = createServiceProcess({
    name: 'accord',
    service: 'accord',
    bug,
    program: 'services/standalone.ts',
    environment: {
      PORT: String(port),
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      RATE_LIMITS: 'off',
      MAX_EVENT_LOOP_DELAY: '0',
      ...mailbox.settings,
    },
    isReady: async () => (await fetch(`${baseUrl}/readyz`)).status === 200,
    logFolder,
  });
  async function stop(): Promise<void> {
    await accord.kill();
    await mailbox.stop();
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
  try {
    await accord.start();
    await keepEvents(database.directUrl);
    const { headers } = await createKey({ url: baseUrl, fetch: contractFetch(baseUrl) });
    return {
      baseUrl,
      headers,
      mailbox,
      stop,
      faults: [...processFaults([accord]), ...postgresFaults(database), ...mailbox.faults],
      lostReplies: database.proxy.lost,
      gather: async () => ({
        stored: await gatherStored(database.directUrl, patienceMs),
        misconduct: [...accord.misconduct(), ...(await findLeaks(database.directUrl, [accord]))],
      }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
