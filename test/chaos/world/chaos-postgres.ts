import { readFile } from 'node:fs/promises';
import { serverSettings } from '#lib/db/embedded/create-cluster.ts';
import { type Postmaster, terminate } from '#lib/db/embedded/postmaster.ts';
import { prepareTestPostgres } from '../../../deploy/local/postgres.ts';
import { waitUntil } from '../wait-until.ts';

/** A PostgreSQL that one may be cruel to: with full durability, always on the same port. */
export interface ChaosPostgres {
  /** Of its superuser, without the proxy. */
  url: string;
  port: number;
  /** kill -9 of all its processes, as when the machine ends. */
  kill(): Promise<void>;
  /** Starts it again, and waits until it has recovered. */
  start(): Promise<void>;
  /** SIGSTOP of all its processes. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** As the product runs it. */
const settings = { ...serverSettings, max_connections: '100' };

export async function startChaosPostgres(): Promise<ChaosPostgres> {
  const prepared = await prepareTestPostgres();
  let postmaster: Postmaster | undefined = await prepared.launch(settings);
  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    const pid = await postmasterPid(prepared.files);
    for (const each of [pid, ...(await childrenOf(pid))]) kill(each, signal);
  }
  return {
    url: prepared.url,
    port: prepared.port,
    async kill() {
      await signalAll('SIGKILL');
      await postmaster?.ended;
      postmaster = undefined;
    },
    async start() {
      // Its shared memory may be held for a moment by a process that was killed.
      postmaster = await waitUntil('PostgreSQL starts again', () => prepared.launch(settings));
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async stop() {
      if (postmaster) await terminate(postmaster);
      await prepared.remove();
    },
  };
}

async function postmasterPid(files: string): Promise<number> {
  return Number((await readFile(`${files}/postmaster.pid`, 'utf8')).split('\n', 1)[0]);
}

/** Linux tells them. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
