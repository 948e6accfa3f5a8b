import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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

/** Both servers get the options of Node.js that `npm start` gives. */
const nodeOptions = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).scripts.start as string
)
  .split(' ')
  .filter((word) => word.startsWith('--'));

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
  const child = spawn(
    process.execPath,
    [...options, fileURLToPath(new URL(`../${program}`, import.meta.url))],
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
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
