import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { findProgram } from './programs.ts';

/** A server program that runs as a child of this process. */
export interface Daemon {
  pid: number;
  /** Resolves when it has ended. */
  ended: Promise<void>;
  /** SIGTERM, and SIGKILL after 8 s. */
  stop(): Promise<void>;
}

interface Options {
  command: readonly string[];
  environment?: Record<string, string>;
  cwd?: string;
  /** Where its output goes. */
  log: string;
  /** It is ready when it accepts connections here. */
  port: number;
  readyMs: number;
}

const killAfterMs = 8_000;
const tailLength = 2_000;

/**
 * Starts a daemon and waits until it accepts connections. It ends with this process, whatever ends that.
 * @throws Error with the end of its log if it ends before, or is not ready in time.
 */
export async function startDaemon(options: Options): Promise<Daemon> {
  const child = launch(options);
  const ended = once(child, 'exit').then(() => {});
  const daemon: Daemon = { pid: child.pid as number, ended, stop: () => stop(child, ended) };
  try {
    await ready(options, child);
    return daemon;
  } catch (error) {
    await daemon.stop();
    const tail = (await readFile(options.log, 'utf8').catch(() => '')).slice(-tailLength);
    throw new Error(`${(error as Error).message}\n${tail}`);
  }
}

function launch({ command, environment, cwd, log }: Options): ChildProcess {
  const output = openSync(log, 'a');
  // The kernel ends it when this process is killed: no handler runs then.
  const wrapped = findProgram('setpriv')
    ? ['setpriv', '--pdeathsig', 'SIGTERM', '--', ...command]
    : [...command];
  const child = spawn(wrapped[0] as string, wrapped.slice(1), {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.on('error', () => {}); // Its exit tells.
  return child;
}

async function ready({ command, port, readyMs }: Options, child: ChildProcess): Promise<void> {
  const until = Date.now() + readyMs;
  while (!(await accepts(port))) {
    if (child.pid === undefined) throw new Error(`${command[0]} cannot be run.`);
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${command[0]} ended before it was ready (${child.exitCode ?? child.signalCode}).`);
    if (Date.now() > until) throw new Error(`${command[0]} was not ready within ${readyMs} ms.`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    const finish = (open: boolean) => {
      socket.destroy();
      done(open);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  // One that was stopped by SIGSTOP would not hear SIGTERM.
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  await ended;
  clearTimeout(timer);
}
