import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  type Account,
  type Binaries,
  chooseAccount,
  findBinaries,
  processOptions,
} from '#lib/db/embedded/binaries.ts';
import { initialSettings, serverSettings } from '#lib/db/embedded/create-cluster.ts';
import { freePort, launch, type Postmaster, terminate } from '#lib/db/embedded/postmaster.ts';
import { cacheFolder } from './cache-folder.ts';
import { makeWorkFolder } from './work-folder.ts';

const execute = promisify(execFile);

/** As in production but for durability, which only tests of a crash need, and those start the real thing. */
const fastSettings = {
  ...serverSettings,
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '1GB',
  autovacuum: 'off',
};

/**
 * Starts the PostgreSQL of a test run: superuser `postgres`, no password. It ends with the process that runs
 * the tests.
 */
export async function startTestPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const { url, launch: start, remove } = await prepareTestPostgres();
  const postmaster = await start(fastSettings);
  return {
    url,
    async stop() {
      await terminate(postmaster);
      await remove();
    },
  };
}

/** A cluster and a port that wait to be started, as often as one likes. */
export interface PreparedPostgres {
  /** Of its superuser, without a password. */
  url: string;
  port: number;
  /** The data folder. */
  files: string;
  /** @throws LaunchError if it ends before it is ready. */
  launch(settings: Record<string, string>): Promise<Postmaster>;
  remove(): Promise<void>;
}

/** @param neededBytes what it will hold, if that is much: it lies on a disk if memory has less room. */
export async function prepareTestPostgres(neededBytes?: number): Promise<PreparedPostgres> {
  const cache = cacheFolder();
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const account = await chooseAccount(cache);
  const binaries = await findBinaries({ account, copyTo: cache });
  const work = await makeWorkFolder('postgres', neededBytes);
  const files = path.join(work.path, 'data');
  await copyOwned(await freshCluster(cache, binaries, account), files, account);
  const port = await freePort();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    port,
    files,
    launch: (settings) => launch({ binaries, account, files, port, settings }),
    remove: work.remove,
  };
}

/** An empty cluster to copy, made once per version of PostgreSQL. */
async function freshCluster(
  cache: string,
  binaries: Binaries,
  account: Account | undefined,
): Promise<string> {
  const cluster = path.join(cache, `postgresql-${binaries.version}-cluster`);
  if (existsSync(cluster)) return cluster;
  const work = await mkdtemp(`${cluster}.new-`);
  if (account) await chown(work, account.uid, account.gid);
  await execute(
    binaries.initdb,
    ['-D', work, '-U', 'postgres', '--no-sync', '--auth=trust', ...initialSettings],
    processOptions(account),
  );
  await rename(work, cluster).catch(async (error) => {
    await rm(work, { recursive: true, force: true }); // Another run was quicker; its cluster is as good.
    if (!existsSync(cluster)) throw error;
  });
  return cluster;
}

async function copyOwned(from: string, to: string, account: Account | undefined): Promise<void> {
  await cp(from, to, { recursive: true, mode: 2 /* COPYFILE_FICLONE */ });
  await chmod(to, 0o700);
  if (!account) return;
  await chown(to, account.uid, account.gid);
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true }))
    await chown(path.join(entry.parentPath, entry.name), account.uid, account.gid);
}
