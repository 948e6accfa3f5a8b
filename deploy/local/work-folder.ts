import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lockFolder } from '#lib/db/embedded/data-folder.ts';

/** A folder for one run. */
export interface WorkFolder {
  path: string;
  remove(): Promise<void>;
}

const graceMs = 60_000;

/**
 * Makes a folder that is this process's until it ends, and removes those of runs that were killed: nobody
 * holds their lock.
 */
export async function makeWorkFolder(name: string): Promise<WorkFolder> {
  const prefix = `accord-test-${name}-`;
  await removeStale(prefix);
  const folder = await mkdtemp(path.join(tmpdir(), prefix));
  await chmod(folder, 0o711);
  const lock = lockFolder(folder);
  return {
    path: folder,
    async remove() {
      lock.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function removeStale(prefix: string): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(tmpdir(), name))) {
    try {
      // A folder is made a moment before it is locked.
      if (Date.now() - (await stat(folder)).ctimeMs < graceMs) continue;
      lockFolder(folder).release();
      await rm(folder, { recursive: true, force: true });
    } catch {
      // In use, or another user's.
    }
  }
}
