import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { serverSettings } from '#lib/db/embedded/create-cluster.ts';
import { type Postmaster, terminate } from '#lib/db/embedded/postmaster.ts';
import { prepareTestPostgres } from '../../infrastructure/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../proxy/postgres-proxy.ts';
import type { Random } from '../random.ts';
import { waitUntil } from '../wait-until.ts';

/** A database for an instance, behind a proxy. */
export interface Database {
  postgres: ChaosPostgres;
  proxy: PostgresProxy;
  /** For the instance: its owner's, through the proxy. */
  url: string;
  /** For the checker: the superuser's, without the proxy. */
  directUrl: string;
  stop(): Promise<void>;
}

const name = 'accord';

export async function startDatabase(random: Random): Promise<Database> {
  const postgres = await startChaosPostgres();
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE ROLE ${name} LOGIN CREATEROLE`);
  await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
  await client.end();
  const proxy = await startPostgresProxy({ target: () => postgres.port, random });
  const direct = new URL(postgres.url);
  direct.pathname = `/${name}`;
  return {
    postgres,
    proxy,
    url: `postgresql://${name}@127.0.0.1:${proxy.port}/${name}`,
    directUrl: direct.href,
    async stop() {
      await proxy.close();
      await postgres.stop();
    },
  };
}

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

async function startChaosPostgres(): Promise<ChaosPostgres> {
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
