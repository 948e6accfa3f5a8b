import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/** Where unpacked infrastructure is kept between runs. */
export function cacheFolder(): string {
  if (process.env.TEST_INFRA_CACHE) return process.env.TEST_INFRA_CACHE;
  if (process.getuid?.() === 0) return '/var/tmp/accord';
  return path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'accord');
}

/**
 * A folder of the cache, built if it is not there yet: in a temporary one that is then renamed, so that it is
 * whole or not there, however many build it at once. @param name with the version of what is in it.
 */
export async function cached(name: string, build: (folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  await mkdir(cacheFolder(), { recursive: true, mode: 0o755 });
  const work = await mkdtemp(`${folder}.new-`);
  try {
    await chmod(work, 0o755);
    await build(work);
    await rename(work, folder);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    // Another run was quicker; its folder is as good.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
