import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { owner } from '#lib/db/embedded/create-cluster.ts';
import { readPostmasterFile, worksOn } from '#lib/db/embedded/postmaster-file.ts';

/**
 * The connection string of the PostgreSQL that works on a data folder now, whoever started it; undefined if none does.
 * For tools that are run beside Accord: they need not take the folder.
 */
export async function findRunningPostgres(dataDir: string): Promise<string | undefined> {
  const database = path.join(path.resolve(dataDir), 'postgresql');
  const files = path.join(database, 'data');
  const running = await readPostmasterFile(files);
  if (running?.status !== 'ready' || !(await worksOn(running.pid, files))) return undefined;
  const password = (await readFile(path.join(database, 'password'), 'utf8')).trim();
  return `postgresql://${owner}:${password}@127.0.0.1:${running.port}/${owner}`;
}
