import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runProgram } from './workshop.ts';

const root = path.join(import.meta.dirname, '..', '..');

let archive: Promise<Buffer> | undefined;

/** `accord-client` for TypeScript and JavaScript as `npm pack` makes it, once for this process. */
export function packedClient(): Promise<Buffer> {
  archive ??= pack();
  return archive;
}

/** Unpacks it as `npm install` does. @returns the folder `accord-client`, made in `folder`. */
export async function unpackClient(folder: string): Promise<string> {
  const into = path.join(folder, 'accord-client');
  await mkdir(into, { recursive: true });
  await writeFile(path.join(folder, 'accord-client.tgz'), await packedClient());
  const words = ['-xzf', 'accord-client.tgz', '-C', into, '--strip-components=1'];
  await runProgram(['tar', ...words], { cwd: folder });
  return into;
}

/** Of a copy, because packing removes what another process packs at the same time. */
async function pack(): Promise<Buffer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-client-'));
  try {
    const from = path.join(root, 'clients', 'typescript');
    await cp(from, folder, { recursive: true, filter: (file) => !file.startsWith(path.join(from, 'dist')) });
    const programs = [path.join(root, 'node_modules', '.bin'), process.env.PATH].join(path.delimiter);
    await runProgram(['npm', 'pack', '--silent'], { cwd: folder, env: { PATH: programs } });
    return await readFile(path.join(folder, 'accord-client-1.0.0.tgz'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
