import { cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Buildah } from './buildah.ts';
import { cached } from './cache-folder.ts';
import { execute, findProgram } from './programs.ts';

/**
 * As the public image of Node.js on Debian's slim image, without apt: the user `node`, Node.js in /usr/local,
 * npm.
 */
const dockerfile = (version: string) => `FROM scratch
ADD debian.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \\
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_VERSION=${version}
CMD ["node"]
`;

/**
 * Makes a base image from Debian's packages, the Node.js that runs this, and its npm.
 * @param name full name of the base image
 * @returns a docker-archive in the cache
 */
export async function buildStandIn(version: string, name: string, buildah: Buildah): Promise<string> {
  if (process.versions.node !== version) throw new Error(`this is not Node.js ${version}`);
  const folder = await cached(`node-image-${version}`, async (into) => {
    const work = await mkdtemp(path.join(tmpdir(), 'accord-base-'));
    try {
      await collect(work, version);
      await buildah('build', '--isolation', 'chroot', '--format', 'docker', '--tag', name, work);
      await buildah('push', name, `docker-archive:${path.join(into, 'node.tar')}:${name}`);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
  return path.join(folder, 'node.tar');
}

async function collect(work: string, version: string): Promise<void> {
  if (!findProgram('mmdebstrap')) throw new Error('there is no mmdebstrap');
  const npm = findProgram('npm');
  if (!npm) throw new Error('there is no npm');
  const packages = '--include=libstdc++6,libatomic1,passwd';
  const debian = path.join(work, 'debian.tar');
  await execute('mmdebstrap', ['--quiet', '--variant=essential', packages, 'bookworm', debian]);
  await cp(await realpath(process.execPath), path.join(work, 'node'));
  // From …/npm/bin/npm-cli.js
  const npmFolder = path.dirname(path.dirname(await realpath(npm)));
  await cp(npmFolder, path.join(work, 'npm'), { recursive: true });
  await writeFile(path.join(work, 'Dockerfile'), dockerfile(version));
}
