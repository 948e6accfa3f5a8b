import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** What a running PostgreSQL says of itself in `postmaster.pid`. */
export interface PostmasterFile {
  pid: number;
  port: number;
  status: 'starting' | 'stopping' | 'ready' | 'standby';
}

/** Reads `postmaster.pid` of a database; undefined if there is none, or none that is complete yet. */
export async function readPostmasterFile(files: string): Promise<PostmasterFile | undefined> {
  const content = await readFile(path.join(files, 'postmaster.pid'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // pid, folder, start time, port, socket folder, address, shared memory, status
  const [pid, , , port, , , , status] = content.split('\n');
  if (!pid || !status) return undefined;
  return { pid: Number(pid), port: Number(port), status: status.trim() as PostmasterFile['status'] };
}

/**
 * Whether a pid is PostgreSQL at work on this very database: not a dead process that nobody has reaped, not a stranger with a
 * reused pid, not the PostgreSQL of the folder that this one was copied from.
 */
export async function worksOn(pid: number, files: string): Promise<boolean> {
  if (!isRunning(pid)) return false;
  if (process.platform !== 'linux') return (await namedFolder(files)) === files;
  try {
    const [cwd, own] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(files)]);
    return cwd.dev === own.dev && cwd.ino === own.ino;
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    // Root in a container may not follow another user's links there, but everybody may read command lines.
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.split('\0').includes(files);
  }
}

/** Whether there is a process of this number, dead or alive, ours or not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function namedFolder(files: string): Promise<string | undefined> {
  return (await readFile(path.join(files, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[1];
}
