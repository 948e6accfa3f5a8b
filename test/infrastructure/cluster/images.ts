import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached } from '../cache-folder.ts';
import { findJava } from '../java.ts';
import { findKafkaFiles } from '../kafka-files.ts';
import { execute } from '../programs.ts';

/** An image as a docker-archive, with all its names; the archive contains the first one. */
export interface NodeImage {
  archive: string;
  names: readonly string[];
}

const standIns = fileURLToPath(new URL('stand-ins', import.meta.url));
/** The names by which the trial refers to its images (helm/trial). */
const storeNames = [
  'postgres:17.11-trixie',
  'apache/kafka:3.9.2',
  'redis:7.2.5-bookworm',
  'nginxinc/nginx-unprivileged:1.30.2-alpine-slim',
].map(qualify);
const debianPackages = [
  'postgresql-17',
  'redis-server',
  'nginx',
  'openjdk-21-jre-headless',
  'ca-certificates',
  'procps',
];

/**
 * Stand-ins for the images of the trial: one image of Debian 13 with all their programs, under their names.
 */
export async function buildStoreImages(say: (line: string) => void): Promise<NodeImage> {
  const files = await Promise.all(
    (await readdir(standIns)).sort().map((name) => readFile(path.join(standIns, name), 'utf8')),
  );
  const root = await cached(`cluster-stores-root-${digest(debianPackages)}`, async (folder) => {
    say('installing PostgreSQL, Redis, nginx and Java of Debian into an image');
    const words = ['--variant=minbase', `--include=${debianPackages.join(',')}`, 'trixie'];
    await execute('mmdebstrap', [...words, path.join(folder, 'root.tar')], { maxBuffer: 1 << 26 });
  });
  const folder = await cached(`cluster-stores-${digest([...files, ...storeNames])}`, async (target) => {
    say('building the image of PostgreSQL, Kafka, Redis and nginx');
    const { libraries } = await findKafkaFiles(await findJava());
    await inWorkFolder(async (work) => {
      await cp(standIns, work, { recursive: true });
      await cp(libraries, path.join(work, 'kafka'), { recursive: true });
      await execute('ln', [path.join(root, 'root.tar'), path.join(work, 'root.tar')]).catch(() =>
        cp(path.join(root, 'root.tar'), path.join(work, 'root.tar')),
      );
      await buildImage(work, storeNames[0] as string, path.join(target, 'image.tar'));
    });
  });
  return { archive: path.join(folder, 'image.tar'), names: storeNames };
}

/** An image with one program and nothing else. */
export async function buildProgramImage(program: string, name: string): Promise<NodeImage> {
  const key = digest([program, name]);
  const folder = await cached(`cluster-image-${path.basename(program)}-${key}`, (target) =>
    inWorkFolder(async (work) => {
      await cp(program, path.join(work, 'program'));
      const file = `FROM scratch\nCOPY program /${path.basename(program)}\nUSER 65532:65532\nENTRYPOINT ["/${path.basename(program)}"]\n`;
      await writeFile(path.join(work, 'Containerfile'), file);
      await buildImage(work, qualify(name), path.join(target, 'image.tar'));
    }),
  );
  return { archive: path.join(folder, 'image.tar'), names: [qualify(name)] };
}

async function buildImage(context: string, name: string, archive: string): Promise<void> {
  const built = `localhost/accord-cluster-${digest([context])}`;
  const options = { maxBuffer: 1 << 26 };
  await execute(
    'buildah',
    ['build', '--isolation', 'chroot', '--layers=false', '--tag', built, context],
    options,
  );
  await execute('buildah', ['push', built, `docker-archive:${archive}:${name}`], options);
  await execute('buildah', ['rmi', '--force', built], options);
}

/** The whole name of an image, as containerd keeps it. */
function qualify(name: string): string {
  if (!name.includes('/')) return `docker.io/library/${name}`;
  return name.split('/')[0]?.includes('.') ? name : `docker.io/${name}`;
}

async function inWorkFolder(run: (work: string) => Promise<void>): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-image-'));
  try {
    await run(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);
}
