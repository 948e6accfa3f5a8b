import { constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { access, chmod, mkdir, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Account, chooseAccount, mayEnter } from '#lib/db/embedded/binaries.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The folder with all data that must survive a restart. */
export interface DataFolder {
  path: string;
  /** The folder of the database, which may not exist yet. */
  database: string;
  account: Account | undefined;
}

/**
 * Creates the data folder and checks that PostgreSQL's user can reach it. As root, an unreachable default
 * folder is replaced by `rootDataDir`, with a log line; a folder that the operator named is never replaced.
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
      `DATA_DIR ${wanted} cannot be reached by uid ${folder.account.uid}, which runs PostgreSQL because it refuses to run ` +
        `as root: set a folder whose parent folders everybody may enter, such as ${rootDataDir}.`,
    );
  log.info(
    `data are stored in ${rootDataDir}: PostgreSQL does not run as root, and its user cannot reach ${wanted}`,
  );
  await makeFolder(rootDataDir);
  return describe(rootDataDir);
}

async function describe(folder: string): Promise<DataFolder> {
  const database = path.join(folder, 'postgresql');
  return { path: folder, database, account: await chooseAccount(database) };
}

/** @returns whether the folder was created. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    const made = await makeMissing(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    return made;
  } catch (error) {
    throw explainFileError(error, folder);
  }
}

/** Not `mkdir` with `recursive`, which reports a read-only disk as a missing folder. */
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
  // Independent of the umask. As root, PostgreSQL's user must pass through; otherwise the folder is private.
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
  return true;
}

/** SQLite's result codes (https://www.sqlite.org/rescode.html) as error codes of the file system. */
const fileErrors: Record<number, string> = { 8: 'EACCES', 13: 'ENOSPC', 14: 'EACCES' };
const busy = 5;

/**
 * Locks a data folder until this process ends. The kernel releases the lock even after a kill, and unlike a
 * pid file it cannot refer to a reused pid. Node has no file locks, but its SQLite locks the file of an
 * exclusive transaction.
 * @throws StartupError that names the process holding the folder.
 */
export function lockFolder(folder: string): { release(): void } {
  const pidFile = path.join(folder, 'accord.pid');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(path.join(folder, 'accord.lock'), { timeout: 0 });
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (error) {
    lock?.close();
    const code = (error as { errcode?: number }).errcode ?? 0;
    if (code === busy) throw new StartupError(inUse(folder, pidFile));
    throw explainFileError(code in fileErrors ? { code: fileErrors[code] } : error, folder);
  }
  const held = lock;
  return {
    release() {
      rmSync(pidFile, { force: true });
      held.close();
    },
  };
}

function inUse(folder: string, pidFile: string): string {
  let holder = 'another process';
  try {
    holder = `the process ${readFileSync(pidFile, 'utf8').trim()}`;
  } catch {
    // It has locked the folder but not written its pid yet.
  }
  return `The data folder ${folder} (DATA_DIR) is in use by ${holder}: stop it first, or set another DATA_DIR.`;
}

const reasons: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it lies on a file system that is mounted read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'there is a file of this name',
  ENAMETOOLONG: 'its path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's disk quota is used up",
  ENOENT: 'a part of its path leads nowhere',
  ELOOP: 'its symbolic links go round in a circle',
};

/** Explains an error of the file system at start in one sentence. */
export function explainFileError(error: unknown, folder: string): StartupError {
  if (error instanceof StartupError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = (code && reasons[code]) ?? message;
  return new StartupError(`The data folder ${folder} (DATA_DIR) cannot be used: ${reason}.`, {
    cause: error,
  });
}

/** Explains in one sentence what a program of PostgreSQL wrote to standard error before it failed. */
export function explainOutput(output: string, folder: string): StartupError {
  if (/No space left on device/.test(output)) return explainFileError({ code: 'ENOSPC' }, folder);
  if (/Disk quota exceeded/.test(output)) return explainFileError({ code: 'EDQUOT' }, folder);
  const unknownUser = /could not look up effective user ID (\d+)/.exec(output)?.[1];
  if (unknownUser)
    return new StartupError(
      `PostgreSQL cannot run as uid ${unknownUser}, because the system has no name for it: start Accord as a user with a ` +
        'name, or set DATABASE_URL to use your own PostgreSQL.',
    );
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const fault = lines.findLast((line) => /(FATAL|PANIC|ERROR|error):/.test(line));
  const said = fault?.replace(/^.*?(FATAL|PANIC|ERROR|error):\s*/, '') ?? lines.join(' ');
  const reason = said.slice(0, 500).replace(/\.$/, '') || 'no reason given';
  return new StartupError(`PostgreSQL cannot run on the data in ${folder} (DATA_DIR): ${reason}.`);
}
