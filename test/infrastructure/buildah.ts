import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute, findProgram } from './programs.ts';
import { buildStandIn } from './stand-in-base.ts';

/** Runs buildah on a temporary store of images. Rejects with what it has written. */
export type Buildah = (...words: string[]) => Promise<void>;

/**
 * Builds deploy/Dockerfile without a daemon and writes the image as a docker-archive. Needs root, or a range
 * of users (/etc/subuid).
 * @param name full name of the image
 * @returns whether the base is the public image, or a stand-in because the public image cannot be pulled
 */
export async function buildWithBuildah(
  project: string,
  name: string,
  archive: string,
): Promise<'public' | 'stand-in'> {
  if (!findProgram('buildah')) throw new Error('there is no buildah');
  const work = await mkdtemp(path.join(tmpdir(), 'accord-image-'));
  const buildah: Buildah = async (command, ...words) => {
    const store = ['--root', path.join(work, 'store'), '--runroot', path.join(work, 'run')];
    await execute('buildah', [...store, command ?? '', ...words], { cwd: project, maxBuffer: 1 << 26 });
  };
  try {
    const { base, image } = await pullBase(project, buildah);
    const build = ['build', '--isolation', 'chroot', '--pull-never', '--format', 'docker'];
    const from = ['--build-arg', `NODE_IMAGE=${image}`];
    const trust = await trustOfMachine(work);
    await buildah(...build, ...from, ...trust, '--tag', name, '--file', 'deploy/Dockerfile', '.');
    await buildah('push', name, `docker-archive:${archive}:${name}`);
    return base;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function pullBase(
  project: string,
  buildah: Buildah,
): Promise<{ base: 'public' | 'stand-in'; image: string }> {
  const dockerfile = await readFile(path.join(project, 'deploy', 'Dockerfile'), 'utf8');
  const named = /^ARG NODE_IMAGE=((\S+:([\d.]+)-bookworm-slim)@sha256:[0-9a-f]{64})$/m.exec(dockerfile);
  const [, image, tag, version] = named ?? [];
  if (!image || !tag || !version) throw new Error('deploy/Dockerfile names no version of Node.js');
  const pulled = await buildah('pull', '--quiet', image).then(
    () => true,
    () => false,
  );
  if (pulled) return { base: 'public', image };
  // An image of our own cannot have the digest.
  const standIn = await buildStandIn(version, tag, buildah);
  await buildah('pull', '--quiet', `docker-archive:${standIn}`);
  return { base: 'stand-in', image: tag };
}

/** Where a network has its own certificate authority, npm in the build trusts it, as Node.js does here. */
async function trustOfMachine(work: string): Promise<string[]> {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  if (!file) return [];
  const certificates =
    (await readFile(file, 'utf8')).match(/-----BEGIN [\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const npmrc = path.join(work, 'npmrc');
  await writeFile(npmrc, certificates.map((each) => `ca[]=${JSON.stringify(each)}\n`).join(''));
  return ['--secret', `id=npmrc,src=${npmrc}`];
}
