import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { programEnvironment } from './program-environment.ts';

/** How a process ended, and all that it said. */
export interface Ended {
  code: number | null;
  output: string;
  errors: string;
}

/** Accord as `npm start` runs it, in a process of its own. */
export interface StandaloneProcess {
  child: ChildProcess;
  /** BASE_URL, as the process says it; rejects with what it said if it ends before. */
  ready: Promise<string>;
  ended: Promise<Ended>;
  /** All that it has said until now, on both streams. */
  said(): string;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<Ended>;
  /** kill -9, which it never hears. */
  kill(): Promise<Ended>;
}

const ours = path.join(import.meta.dirname, '..', '..', '..', 'services', 'standalone.ts');

/** The programs that run; they are killed when this process ends. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts Accord with these settings and no others: on a free port, without limits, unless told otherwise.
 * @param program of another copy of the project.
 */
export function startStandalone(settings: Record<string, string>, program = ours): StandaloneProcess {
  const child = spawn(process.execPath, [program], {
    cwd: '/',
    env: { ...programEnvironment, PORT: '0', RATE_LIMITS: 'off', MAX_EVENT_LOOP_DELAY: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  let errors = '';
  let tell: (url: string) => void = () => {};
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk;
  });
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
    const url = /^\w+ is ready: (\S+).*\n/m.exec(output)?.[1];
    if (url) tell(url);
  });
  const ended = new Promise<Ended>((done) => {
    child.once('close', (code) => {
      running.delete(child);
      done({ code, output, errors });
    });
  });
  const ready = Promise.race([
    new Promise<string>((done) => {
      tell = done;
    }),
    ended.then((end) => Promise.reject(new Error(`It ended with ${end.code}: ${end.output}${end.errors}`))),
  ]);
  ready.catch(() => {}); // Whoever waits for `ended` alone has seen it.
  const signal = (name: NodeJS.Signals) => {
    child.kill(name);
    return ended;
  };
  return {
    child,
    ready,
    ended,
    said: () => output + errors,
    stop: () => signal('SIGTERM'),
    kill: () => signal('SIGKILL'),
  };
}
