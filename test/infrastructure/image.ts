import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildWithBuildah } from './buildah.ts';
import { cached, cacheFolder } from './cache-folder.ts';
import { checkImage } from './check-image.ts';
import { execute, MissingInfrastructure, tell } from './programs.ts';

/** The container image of this project as a file. */
export interface LocalImage {
  /** A docker-archive, which `docker load`, `ctr images import` and `buildah pull` read. */
  archive: string;
  /** Full name in the archive. */
  name: string;
  /** `public`, or `stand-in` where the public base image could not be pulled: an image for tests only. */
  base: 'public' | 'stand-in';
}

const project = path.join(import.meta.dirname, '..', '..');
const keptMs = 24 * 3_600_000;

/**
 * Builds deploy/Dockerfile with the Docker daemon if it responds, otherwise with buildah. The same files give
 * the archive of the cache. @throws MissingInfrastructure, or Error if the image is wrong
 */
export async function buildImage(): Promise<LocalImage> {
  const { version } = JSON.parse(await readFile(path.join(project, 'package.json'), 'utf8'));
  const name = `docker.io/library/accord:${version}`;
  const folder = await cached(`image-${await hashOfInputs()}`, async (into) => {
    await build(name, into);
    await checkImage(path.join(into, 'accord.tar'));
  });
  await removeOld(folder);
  const base = existsSync(path.join(folder, 'stand-in')) ? 'stand-in' : 'public';
  return { archive: path.join(folder, 'accord.tar'), name, base };
}

async function build(name: string, into: string): Promise<void> {
  const archive = path.join(into, 'accord.tar');
  const tried: string[] = [];
  try {
    return await buildWithDocker(name, archive);
  } catch (error) {
    tried.push(tell(error));
  }
  try {
    const base = await buildWithBuildah(project, name, archive);
    if (base === 'stand-in') await writeFile(path.join(into, 'stand-in'), '');
  } catch (error) {
    tried.push(tell(error));
    throw new MissingInfrastructure('The image', tried, 'Docker, or apt-get install buildah mmdebstrap');
  }
}

async function buildWithDocker(name: string, archive: string): Promise<void> {
  await execute('docker', ['version'], { timeout: 2_000 }).catch(() => {
    throw new Error('no Docker daemon answers');
  });
  const words = ['build', '--quiet', '--tag', name, '--file', 'deploy/Dockerfile', '.'];
  await execute('docker', words, { cwd: project, maxBuffer: 1 << 26 });
  await execute('docker', ['save', '--output', archive, name]);
}

/** A hash of all that the image is made of: the Dockerfile, and the files that are sent to the builder. */
async function hashOfInputs(): Promise<string> {
  const sent = (await readFile(path.join(project, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const hash = createHash('sha256');
  for (const each of ['deploy/Dockerfile', ...sent])
    for (const file of await filesIn(each)) {
      const content = await readFile(path.join(project, file));
      hash.update(`${file} ${content.length}\n`).update(content);
    }
  return hash.digest('hex').slice(0, 16);
}

/** @returns the file itself, or all files of the folder and its folders, in order. */
async function filesIn(name: string): Promise<string[]> {
  const place = path.join(project, name);
  if (!(await stat(place)).isDirectory()) return [name];
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => path.relative(project, path.join(entry.parentPath, entry.name))).sort();
}

/** Removes images of earlier files from the cache: each has several hundred megabytes. */
async function removeOld(used: string): Promise<void> {
  for (const name of await readdir(cacheFolder())) {
    const folder = path.join(cacheFolder(), name);
    if (!/^image-[0-9a-f]{16}$/.test(name) || folder === used) continue;
    if (Date.now() - (await stat(folder)).mtimeMs > keptMs)
      await rm(folder, { recursive: true, force: true });
  }
}
