import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const project = path.join(import.meta.dirname, '..', '..', '..');

interface Instruction {
  name: string;
  rest: string;
}

/** The instructions of a Dockerfile, in order, with continued lines joined and comments left out. */
export async function readDockerfile(file: string): Promise<Instruction[]> {
  const text = (await readFile(file, 'utf8')).replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, rest };
    });
}

/** What the image takes out of the project. */
export function copiedPaths(instructions: readonly Instruction[]): string[] {
  return instructions
    .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1));
}

/**
 * Makes in a folder what the image has in /app: the files that the Dockerfile copies, no other, and the
 * packages as its first stage installs them. Nobody may write there afterwards.
 */
export async function makeImageTree(folder: string): Promise<void> {
  const instructions = await readDockerfile(path.join(project, 'deploy', 'Dockerfile'));
  await mkdir(folder, { recursive: true });
  for (const each of new Set(copiedPaths(instructions)))
    await cp(path.join(project, each), path.join(folder, each), { recursive: true });
  const install = instructions.find(({ name, rest }) => name === 'RUN' && rest.includes('npm ci'));
  if (!install) throw new Error('The Dockerfile installs no packages.');
  await execute('sh', ['-c', install.rest], {
    cwd: folder,
    env: { ...process.env, npm_config_prefer_offline: 'true', npm_config_loglevel: 'error' },
  });
  await makeReadOnly(folder);
}

async function makeReadOnly(folder: string): Promise<void> {
  await execute('chmod', ['-R', 'a-w,a+rX', folder]);
}

/** Lets the folder be removed again. */
export async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  await execute('chmod', ['-R', 'u+w', folder]);
}

/** Names of the services that the tree can run. */
export async function servicesIn(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(folder, 'services'), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const withMain = await Promise.all(
    names.map(async (name) =>
      (await readdir(path.join(folder, 'services', name))).includes('main.ts') ? [name] : [],
    ),
  );
  return withMain.flat();
}
