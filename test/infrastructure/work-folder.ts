import { chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lockFolder } from '#lib/db/embedded/data-folder.ts';

/** A folder for one run. */
export interface WorkFolder {
  path: string;
  remove(): Promise<void>;
}

const graceMs = 60_000;
/** Files in memory, on Linux. */
const memory = '/dev/shm';
const usualBytes = 8 * 2 ** 30;

/**
 * Makes a folder that is this process's until it ends, in memory if there is room, and removes those of runs
 * that were killed: their lock is free.
 * @param neededBytes that must be free in memory.
 */
export async function makeWorkFolder(name: string, neededBytes = usualBytes): Promise<WorkFolder> {
  const prefix = `accord-test-${name}-`;
  const place = (await hasRoom(memory, neededBytes)) ? memory : tmpdir();
  await removeStale(place, prefix);
  const folder = await mkdtemp(path.join(place, prefix));
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

async function hasRoom(place: string, neededBytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(place).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= neededBytes;
}

async function removeStale(place: string, prefix: string): Promise<void> {
  const names = (await readdir(place)).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(place, name))) {
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
