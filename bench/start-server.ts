import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server under measurement, in a process of its own. */
export interface ServerProcess {
  pid: number;
  port: number;
  /** From the start of the process to the line that says it is ready. */
  readyMs: number;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
}

const project = fileURLToPath(new URL('..', import.meta.url));
const words = (
  JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')).scripts.start as string
).split(' ');

/** All servers get the options of Node.js that `npm start` gives, and what it puts into the environment. */
const nodeOptions = words.filter((word) => word.startsWith('--'));
const surroundings = Object.fromEntries(
  words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split('=', 2) as [string, string]),
);

/**
 * Starts a program of this project and waits until it prints `… is ready: <URL>`.
 * @param program path below the project.
 * @param options of Node.js.
 * @throws Error with what it said if it ends before.
 */
export async function startServer(
  program: string,
  environment: Record<string, string>,
  options: readonly string[] = nodeOptions,
): Promise<ServerProcess> {
  const started = performance.now();
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, [...options, path.join(project, program)], {
    cwd: project,
    env: { PATH, HOME, TMPDIR, ...surroundings, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let said = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      const ready = /is ready: http:\/\/[^:]+:(\d+)/.exec(said);
      if (ready) resolve(Number(ready[1]));
    });
    ended.then(() => reject(new Error(`${program} ended before it was ready.`)));
  });
  return {
    pid: child.pid as number,
    port,
    readyMs: performance.now() - started,
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}
