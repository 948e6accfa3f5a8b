import { constants } from 'node:fs';
import { access, chmod, mkdir, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Account, chooseAccount, mayEnter } from '#lib/db/embedded/account.ts';
import { explainFileError } from '#lib/db/embedded/explain-file-error.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The folder that holds everything that must survive a restart. */
export interface DataFolder {
  path: string;
  /** Where the database is, or will be. */
  database: string;
  account: Account | undefined;
}

/**
 * Makes the data folder and sees that PostgreSQL's user can reach it. As root, a default folder out of that user's reach
 * is replaced by `rootDataDir`, and this is said; a folder that was named is never replaced.
 */
export async function openDataFolder({
  dataDir,
  named,
  rootDataDir,
  log,
}: {
  dataDir: string;
  named: boolean;
  rootDataDir: string;
  log: Logger;
}): Promise<DataFolder> {
  const wanted = path.resolve(dataDir);
  const made = await makeFolder(wanted);
  const folder = await describe(wanted);
  if (!folder.account || (await mayEnter(folder.account, wanted))) return folder;
  if (made) await rmdir(wanted).catch(() => {});
  if (named)
    throw new StartupError(
      `DATA_DIR ${wanted} cannot be reached by uid ${folder.account.uid}, as which PostgreSQL runs because it refuses ` +
        `to run as root: name a folder below folders that everybody may enter, such as ${rootDataDir}.`,
    );
  log.info(
    `data are kept in ${rootDataDir}: PostgreSQL does not run as root, and its user cannot reach ${wanted}`,
  );
  await makeFolder(rootDataDir);
  return describe(rootDataDir);
}

async function describe(folder: string): Promise<DataFolder> {
  const database = path.join(folder, 'postgresql');
  return { path: folder, database, account: await chooseAccount(database) };
}

/** @returns whether it was made now. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    const made = await makeMissing(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    return made;
  } catch (error) {
    throw explainFileError(error, folder);
  }
}

/** Not `mkdir`'s own recursion, which hides why it fails: it says of a read-only disk that there is no such folder. */
async function makeMissing(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return false;
    if (code !== 'ENOENT') throw error;
    await makeMissing(path.dirname(folder));
    await mkdir(folder);
  }
  // Whatever the umask: as root, PostgreSQL's user must pass through; else nobody else has business there.
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
  return true;
}
