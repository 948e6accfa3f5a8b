import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { imageMemory, imageOptions } from '../../infrastructure/image-options.ts';
import { programEnvironment } from '../../support/instances/program-environment.ts';
import { isReady, type RoutedReplica } from '../../support/network/prefix-router.ts';
import { plantModule } from '../planted/bug-settings.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * One process of Accord that one may be cruel to. It is started again when it ends by itself, as in a
 * cluster.
 */
export interface ServiceProcess {
  /** The service's name, and a number if there are several of it: `transactions 2`. */
  name: string;
  service: string;
  /** Starts it and waits until it is ready. @param shiftMs how far its clock is off. */
  start(options?: { shiftMs?: number }): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** SIGTERM. @returns its exit code. */
  stop(): Promise<number | null>;
  /** SIGSTOP and SIGCONT. */
  pause(): void;
  resume(): void;
  /** What it has said or done that no process may (I9). */
  misconduct(): string[];
  /** What it has open: sockets and files. */
  openFiles(): Promise<number>;
  residentMegabytes(): Promise<number>;
  /** The last that it said, for people. */
  lastWords(): string;
}

/** How a process is started. */
export interface ServiceProgram {
  name: string;
  service: string;
  /** Path of the program within the project. */
  program: string;
  environment: Record<string, string>;
  /** A bug to plant in it (test/chaos/planted). */
  bug?: string | undefined;
  isReady(): Promise<boolean>;
  /** Where all that it says is kept. */
  logFolder?: string;
}

const project = path.join(import.meta.dirname, '..', '..', '..');
const shiftModule = path.join(import.meta.dirname, 'shift-clock.ts');
/** What a process says when something was forgotten in the code. */
const faultWords = /because of an unexpected error|unhandledRejection|UnhandledPromise|MaxListenersExceeded/;
const keptWords = 4_000;
/** As an orchestrator would, a little sooner. */
const relaunchMs = 200;

/** None outlives us. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function createServiceProcess(options: ServiceProgram): ServiceProcess {
  const { name, service, program, environment, bug, isReady, logFolder } = options;
  const faults: string[] = [];
  let words = '';
  let child: ChildProcess | undefined;
  /** Nobody has asked it to end. */
  let wanted = false;
  /** It was ready once since it was launched. Before, it may end: a service needs its database to start. */
  let wasReady = false;
  /** It was ready once at all. */
  let works = false;
  let shift = 0;
  let ended: Promise<number | null> = Promise.resolve(null);

  function launch(): void {
    const started = spawn(
      process.execPath,
      [...imageOptions, '--trace-warnings', path.join(project, program)],
      {
        cwd: '/',
        env: { ...programEnvironment, ...imageMemory, ...environment, ...preloads(shift, bug) },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    child = started;
    running.add(started);
    wasReady = false;
    started.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      words = (words + chunk).slice(-keptWords);
      if (logFolder) appendFileSync(path.join(logFolder, `${name}.log`), chunk);
      for (const line of chunk.split('\n')) if (faultWords.test(line)) faults.push(`${name} said: ${line}`);
    });
    ended = new Promise((done) => {
      started.once('close', (code, signal) => {
        running.delete(started);
        if (wanted && wasReady) faults.push(`${name} ended by itself with ${code ?? signal}: ${lastLine()}`);
        if (wanted && works) setTimeout(() => wanted && child === started && launchAgain(), relaunchMs);
        done(code);
      });
    });
  }
  const lastLine = () => words.trim().split('\n').at(-1) ?? '';
  function launchAgain(): void {
    launch();
    awaitReady().catch((error: Error) => faults.push(error.message));
  }
  async function awaitReady(): Promise<void> {
    const launched = child;
    const isReadyOrOver = async () => (!works && child?.exitCode != null) || isReady();
    await waitUntil(`${name} is ready`, isReadyOrOver).catch((error: Error) => {
      throw new Error(`${error.message}; it said: ${lastLine()}`, { cause: error.cause });
    });
    if (!works && child?.exitCode != null) throw new Error(`${name} cannot start: ${words}`);
    works = true;
    if (child === launched) wasReady = true;
  }
  function end(signal: NodeJS.Signals): Promise<number | null> {
    wanted = false;
    child?.kill(signal);
    return ended;
  }
  return {
    name,
    service,
    async start({ shiftMs = 0 } = {}) {
      shift = shiftMs;
      wanted = true;
      launch();
      await awaitReady();
    },
    async kill() {
      await end('SIGKILL');
    },
    async stop() {
      const code = await end('SIGTERM');
      if (code !== 0) faults.push(`${name} was asked to end and did so with ${code}: ${words.slice(-300)}`);
      return code;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    misconduct: () => faults,
    openFiles: async () => (await readdir(`/proc/${child?.pid}/fd`)).length,
    async residentMegabytes() {
      const status = await readFile(`/proc/${child?.pid}/status`, 'utf8');
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
    },
    lastWords: () => words,
  };
}

/** What is loaded before the program: a clock of its own for the process, and a bug. */
function preloads(shiftMs: number, bug = ''): Record<string, string> {
  const modules = [...(shiftMs === 0 ? [] : [shiftModule]), ...(bug ? [plantModule] : [])];
  const NODE_OPTIONS = modules.map((module) => `--import ${module}`).join(' ');
  return { NODE_OPTIONS, CLOCK_SHIFT_MS: String(shiftMs), PLANTED_BUG: bug };
}

/** A replica of a service, and where it is. */
export interface Replica extends RoutedReplica {
  process: ServiceProcess;
}

/** How the services of a world are run. */
export interface Fleet {
  bug?: string | undefined;
  environment: Record<string, string>;
  /** How many of each service. */
  counts: Readonly<Record<string, number>>;
  logFolder?: string;
}

/** Makes the processes of all services, each of which knows where the others are; nothing is started yet. */
export async function createReplicas({ bug, environment, counts, logFolder }: Fleet): Promise<Replica[]> {
  const names = Object.entries(counts).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, index) => ({ service, number: index + 1 })),
  );
  const ports = await Promise.all(Array.from({ length: 2 * names.length }, freePort));
  const places = names.map((name, index) => ({
    ...name,
    port: ports[2 * index] as number,
    internalPort: ports[2 * index + 1] as number,
  }));
  const neighbours = Object.keys(counts).map((service): [string, string] => [
    `${service.toUpperCase()}_INTERNAL_URL`,
    places
      .filter((place) => place.service === service)
      .map(({ internalPort }) => `http://127.0.0.1:${internalPort}`)
      .join(),
  ]);
  return places.map(({ service, number, ...place }) => ({
    ...place,
    process: createServiceProcess({
      name: `${service} ${number}`,
      service,
      bug,
      program: `services/${service}/main.ts`,
      environment: {
        ...environment,
        ...Object.fromEntries(neighbours),
        PORT: String(place.port),
        INTERNAL_PORT: String(place.internalPort),
      },
      isReady: () => isReady(place),
      logFolder,
    }),
  }));
}
