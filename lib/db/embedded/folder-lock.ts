import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { explainFileError } from '#lib/db/embedded/explain-file-error.ts';
import { StartupError } from '#lib/errors/fail.ts';

/** SQLite's result codes, https://www.sqlite.org/rescode.html, as those of the file system. */
const fileErrors: Record<number, string> = { 8: 'EACCES', 13: 'ENOSPC', 14: 'EACCES' };
const busy = 5;

/**
 * Takes a data folder for this process until it ends, however it ends.
 *
 * The lock is one of the kernel's on an open file, so a killed process leaves none behind and a reused pid means nothing,
 * as it would for a file with a pid in it. Node itself cannot lock files, but its SQLite does for an exclusive transaction.
 *
 * @throws StartupError that names the process which has the folder.
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
    // It has the lock and has not written its name yet.
  }
  return `The data folder ${folder} (DATA_DIR) is in use by ${holder}: stop it first, or name another folder.`;
}
