import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { unpackAptPackages } from './apt-packages.ts';
import { cached } from './cache-folder.ts';
import { startDaemon } from './daemon.ts';
import { startInDocker } from './docker.ts';
import { runLocalDaemon } from './local-daemon.ts';
import type { LocalServer } from './local-server.ts';
import { findProgram, MissingInfrastructure, tell } from './programs.ts';
import { makeWorkFolder } from './work-folder.ts';

interface Program {
  command: string;
  libraries?: string;
}

/**
 * Starts a Redis that keeps nothing on disk.
 * @param more settings of a program, not of a container; `{port}` stands for its port.
 * @throws MissingInfrastructure
 */
export async function startLocalRedis(more: readonly string[] = []): Promise<LocalServer> {
  const tried: string[] = [];
  try {
    return await startProgram(await findRedis(), more);
  } catch (error) {
    tried.push(tell(error));
  }
  try {
    if (more.length > 0) throw new Error('the container does not take these settings');
    return await startInDocker({ image: 'redis:7.4', port: 6379, addressOf: urlOf, settings: [] });
  } catch (error) {
    tried.push(tell(error));
  }
  const help = 'apt-get install redis-server (or brew install redis), or REDIS_URL=redis://127.0.0.1:6379';
  throw new MissingInfrastructure('Redis', tried, help);
}

async function startProgram({ command, libraries }: Program, more: readonly string[]): Promise<LocalServer> {
  const work = await makeWorkFolder('redis');
  const port = await freePort();
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    work.path,
    ...more.map((word) => word.replace('{port}', String(port))),
  ];
  const start = () =>
    startDaemon({
      command: [command, ...settings],
      ...(libraries ? { environment: { LD_LIBRARY_PATH: libraries } } : {}),
      log: path.join(work.path, 'redis.log'),
      port,
      readyMs: 20_000,
    });
  return runLocalDaemon({ address: urlOf(port), work, start });
}

/** The program on PATH, else the one of the distribution's package, which is unpacked into the cache. */
async function findRedis(): Promise<Program> {
  const installed = findProgram('redis-server');
  if (installed) return { command: installed };
  const folder = await cached('redis', async (into) => {
    await unpackAptPackages(['redis-server'], into);
    if (!existsSync(path.join(into, 'usr/bin/redis-server')))
      throw new Error('the package has no redis-server');
  });
  const [triplet = ''] = await readdir(path.join(folder, 'usr/lib')).then((names) =>
    names.filter((name) => name.endsWith('-linux-gnu')),
  );
  return {
    command: path.join(folder, 'usr/bin/redis-server'),
    libraries: path.join(folder, 'usr/lib', triplet),
  };
}

function urlOf(port: number): string {
  return `redis://127.0.0.1:${port}`;
}
