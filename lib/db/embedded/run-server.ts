import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Binaries } from '#lib/db/embedded/binaries.ts';
import { type Cluster, owner } from '#lib/db/embedded/create-cluster.ts';
import type { DataFolder } from '#lib/db/embedded/data-folder.ts';
import { explainOutput } from '#lib/db/embedded/explain-file-error.ts';
import { freePort } from '#lib/db/embedded/free-port.ts';
import { adopt, LaunchError, launch, type Postmaster, terminate } from '#lib/db/embedded/postmaster.ts';
import { readPostmasterFile, worksOn } from '#lib/db/embedded/postmaster-file.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** PostgreSQL, running, and started again on the same port should it end by itself. */
export interface Server {
  url: string;
  stop(): Promise<void>;
}

interface Parts {
  folder: DataFolder;
  binaries: Binaries;
  cluster: Cluster;
  log: Logger;
}

/** How long a PostgreSQL that says it is ready may take to answer before it counts as hung. */
const answerMs = 3_000;
/** How long a dead PostgreSQL's processes may hold its memory, or others the port, before a start gives up. */
const launchMs = 15_000;

/** Adopts the PostgreSQL that a killed process left running, or starts one, and keeps it running. */
export async function runServer(parts: Parts): Promise<Server> {
  const { log, cluster } = parts;
  let postmaster = await obtain(parts);
  let stopping = false;
  const onExit = () => postmaster.signal('SIGINT');
  process.once('exit', onExit);
  const watching = (async () => {
    for (;;) {
      await postmaster.ended;
      if (stopping) return;
      log.error('PostgreSQL has ended by itself and is started again');
      const next = await revive(parts, postmaster.port, () => stopping);
      if (!next) return;
      postmaster = next;
    }
  })();
  return {
    url: urlOf(cluster, postmaster.port),
    async stop() {
      stopping = true;
      await terminate(postmaster);
      await watching;
      process.removeListener('exit', onExit);
    },
  };
}

async function obtain(parts: Parts): Promise<Postmaster> {
  return (await adoptLeftOver(parts)) ?? (await launchSomewhere(parts));
}

/** Waits for a left-over one to be ready or gone: it may be recovering, or stopping because its parent died. */
async function adoptLeftOver({ cluster, log }: Parts): Promise<Postmaster | undefined> {
  const { files } = cluster;
  let hungAt: number | undefined;
  for (;;) {
    const file = await readPostmasterFile(files);
    if (!file) return undefined;
    if (!(await worksOn(file.pid, files))) {
      // PostgreSQL removes this file itself, unless a stranger has the pid by now.
      await rm(path.join(files, 'postmaster.pid'), { force: true });
      return undefined;
    }
    if (file.status === 'ready') {
      if (await answers(urlOf(cluster, file.port))) {
        log.info('the PostgreSQL of an earlier process is still running and is used further');
        return adopt(file.pid, file.port, files);
      }
      hungAt ??= Date.now() + answerMs;
      if (Date.now() > hungAt) await terminate(adopt(file.pid, file.port, files), 1_000);
    }
    await wait(10);
  }
}

async function launchSomewhere({ binaries, folder, cluster }: Parts, wanted?: number): Promise<Postmaster> {
  const deadline = Date.now() + launchMs;
  for (;;) {
    const port = wanted ?? (await freePort());
    try {
      return await launch({ binaries, account: folder.account, files: cluster.files, port });
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error;
      const passing = /Address already in use|pre-existing shared memory|postmaster\.pid/.test(error.output);
      if (!passing || Date.now() > deadline) throw explainOutput(error.output, folder.path);
      await wait(50);
    }
  }
}

/** The pools know the port, so the next one must have it too. */
async function revive(parts: Parts, port: number, cancelled: () => boolean): Promise<Postmaster | undefined> {
  for (let pauseMs = 100; !cancelled(); pauseMs = Math.min(pauseMs * 2, 10_000)) {
    try {
      const next = await launchSomewhere(parts, port);
      if (!cancelled()) return next;
      await terminate(next);
    } catch (error) {
      parts.log.error('PostgreSQL does not start', { error });
      await wait(pauseMs);
    }
  }
  return undefined;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  client.on('error', () => {}); // The call in hand rejects with it.
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await Promise.race([client.end(), wait(1_000, undefined, { ref: false })]);
  }
}

function urlOf({ password }: Cluster, port: number): string {
  return `postgresql://${owner}:${password}@127.0.0.1:${port}/${owner}`;
}
