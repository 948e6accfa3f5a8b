import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs, settleWithin } from '#lib/async/timing.ts';
import { type Binaries, findBinaries } from '#lib/db/embedded/binaries.ts';
import { type Cluster, openCluster, owner } from '#lib/db/embedded/create-cluster.ts';
import {
  type DataFolder,
  explainFileError,
  explainOutput,
  lockFolder,
  openDataFolder,
} from '#lib/db/embedded/data-folder.ts';
import {
  adopt,
  freePort,
  LaunchError,
  launch,
  type Postmaster,
  readPostmasterFile,
  terminate,
  worksOn,
} from '#lib/db/embedded/postmaster.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The PostgreSQL of a process without DATABASE_URL. */
export interface EmbeddedPostgres {
  /** For the owner of the database, who is not a superuser. Contains the password: never log it. */
  connectionString: string;
  /** The data folder, absolute; as root it may differ from the default. */
  dataDir: string;
  /** Stops PostgreSQL and unlocks the folder. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL with full durability on the data folder, which it creates if needed and locks for this
 * process.
 * @param named whether the operator set DATA_DIR: then no other folder is used.
 * @param rootDataDir replaces, as root, a default folder that PostgreSQL's user cannot reach.
 * @throws StartupError with one sentence.
 */
export async function startEmbeddedPostgres({
  dataDir,
  named,
  log,
  rootDataDir = '/var/lib/accord',
}: {
  dataDir: string;
  named: boolean;
  rootDataDir?: string;
  log: Logger;
}): Promise<EmbeddedPostgres> {
  const folder = await openDataFolder({ dataDir, named, rootDataDir, log });
  const lock = lockFolder(folder.path);
  try {
    const binaries = await findBinaries({ account: folder.account, copyTo: folder.path });
    const cluster = await openCluster(folder, binaries);
    const server = await runServer({ folder, binaries, cluster, log });
    return {
      connectionString: server.url,
      dataDir: folder.path,
      async stop() {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw explainFileError(error, folder.path);
  }
}

/** A running PostgreSQL, restarted on the same port if it ends unexpectedly. */
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

/** A PostgreSQL that is ready but does not answer within this time counts as hung. */
const answerMs = 3_000;
/** How long to retry while a dead PostgreSQL's memory or another process's port is still in use. */
const launchMs = 15_000;

/** Adopts the PostgreSQL of a killed process, or starts one, and keeps it running. */
async function runServer(parts: Parts): Promise<Server> {
  const { log, cluster } = parts;
  let postmaster = (await adoptLeftOver(parts)) ?? (await launchSomewhere(parts));
  let stopping = false;
  const onExit = () => postmaster.signal('SIGINT');
  process.once('exit', onExit);
  const watching = (async () => {
    for (;;) {
      await postmaster.ended;
      if (stopping) return;
      log.error('PostgreSQL has ended unexpectedly; restarting it');
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

/** Waits until a left-over PostgreSQL is ready or gone: it may be recovering, or stopping with its parent. */
async function adoptLeftOver({ cluster, log }: Parts): Promise<Postmaster | undefined> {
  const { files } = cluster;
  let hungAt: number | undefined;
  for (;;) {
    const file = await readPostmasterFile(files);
    if (!file) return undefined;
    if (!(await worksOn(file.pid, files))) {
      // PostgreSQL removes this file itself, except if an unrelated process has its pid.
      await rm(path.join(files, 'postmaster.pid'), { force: true });
      return undefined;
    }
    if (file.status === 'ready') {
      if (await answers(urlOf(cluster, file.port))) {
        log.info('the PostgreSQL of an earlier process is still running; using it');
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

/** On the same port, because the pools know it. */
async function revive(parts: Parts, port: number, cancelled: () => boolean): Promise<Postmaster | undefined> {
  for (let failures = 1; !cancelled(); failures += 1) {
    try {
      const next = await launchSomewhere(parts, port);
      if (!cancelled()) return next;
      await terminate(next);
    } catch (error) {
      parts.log.error('PostgreSQL does not start; trying again', { error });
      await wait(backoffMs(failures, { minMs: 100, maxMs: 10_000 }));
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
  client.on('error', () => {}); // The current call rejects with it.
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await settleWithin(1_000, client.end());
  }
}

function urlOf({ password }: Cluster, port: number): string {
  return `postgresql://${owner}:${password}@127.0.0.1:${port}/${owner}`;
}

/**
 * The connection string of the PostgreSQL that currently runs on a data folder; undefined if there is none.
 * For tools that run beside Accord without locking the folder.
 */
export async function findRunningPostgres(dataDir: string): Promise<string | undefined> {
  const database = path.join(path.resolve(dataDir), 'postgresql');
  const files = path.join(database, 'data');
  const running = await readPostmasterFile(files);
  if (running?.status !== 'ready' || !(await worksOn(running.pid, files))) return undefined;
  const password = (await readFile(path.join(database, 'password'), 'utf8')).trim();
  return `postgresql://${owner}:${password}@127.0.0.1:${running.port}/${owner}`;
}
