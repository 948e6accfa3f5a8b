import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
 * Makes in a folder what the image has in /app, as the instructions of the Dockerfile with relative paths
 * say. Nobody may write there afterwards.
 */
export async function makeImageTree(folder: string): Promise<void> {
  const packages = await mkdtemp(path.join(tmpdir(), 'accord-test-packages-'));
  const stages = stagesOf(await readDockerfile(path.join(project, 'deploy', 'Dockerfile')));
  try {
    await mkdir(path.join(packages, 'bin'));
    await symlink(path.join(project, 'deploy', 'entrypoint.sh'), path.join(packages, 'bin', 'accord'));
    for (const [stage, into] of [packages, folder].entries())
      for (const instruction of stages[stage] ?? []) await follow(instruction, into, packages);
  } finally {
    await rm(packages, { recursive: true, force: true });
  }
  await makeReadOnly(folder);
}

function stagesOf(instructions: readonly Instruction[]): Instruction[][] {
  const stages: Instruction[][] = [];
  for (const instruction of instructions)
    if (instruction.name === 'FROM') stages.push([]);
    else stages.at(-1)?.push(instruction);
  return stages;
}

async function follow({ name, rest }: Instruction, into: string, packages: string): Promise<void> {
  const words = rest.split(/\s+/);
  const to = words.at(-1) ?? '';
  if (name === 'COPY' && !path.isAbsolute(to)) {
    const fromStage = words[0] === '--from=packages';
    const files = words.slice(fromStage ? 1 : 0, -1);
    for (const file of files) {
      const source = fromStage ? file.replace('/accord', packages) : path.join(project, file);
      const target = path.join(into, to === './' ? path.basename(file) : to);
      await mkdir(path.dirname(target), { recursive: true });
      // Node.js's own takes about four times as long.
      await execute('cp', ['-R', source, target]);
    }
  }
  // Folders outside /app are not part of the tree.
  if (name !== 'RUN' || rest.startsWith('install ')) return;
  await execute('sh', ['-c', rest.replace(/^--mount=\S+ /, '')], {
    cwd: into,
    env: {
      ...process.env,
      PATH: `${path.join(packages, 'bin')}:${process.env.PATH}`,
      npm_config_prefer_offline: 'true',
      npm_config_loglevel: 'error',
    },
    maxBuffer: 1 << 24,
  });
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
