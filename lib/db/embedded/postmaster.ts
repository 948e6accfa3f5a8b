import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { within } from '#lib/async/timing.ts';
import { type Account, type Binaries, processOptions } from '#lib/db/embedded/binaries.ts';
import { serverSettings, settingArguments } from '#lib/db/embedded/create-cluster.ts';

/** A running PostgreSQL. */
export interface Postmaster {
  port: number;
  /** Sends a signal unless the process has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended, with the end of its standard error. */
  ended: Promise<string>;
}

/** PostgreSQL ended before it was ready. */
export class LaunchError extends Error {
  readonly output: string;
  constructor(output: string) {
    super('PostgreSQL ended while it started.');
    this.output = output;
  }
}

/** How much of standard error is kept, from the end. */
const keptOutput = 8_192;

/**
 * Starts PostgreSQL and waits until it is ready, which includes recovery after a crash.
 * @throws LaunchError if it ends before.
 */
export async function launch({
  binaries,
  account,
  files,
  port,
  settings = serverSettings,
}: {
  binaries: Binaries;
  account: Account | undefined;
  files: string;
  port: number;
  settings?: Record<string, string>;
}): Promise<Postmaster> {
  const server = [binaries.postgres, '-D', files, ...settingArguments({ ...settings, port: String(port) })];
  const [program = '', ...args] = [...binaries.endWithParent, ...server];
  // In its own session: Ctrl-C must only stop Accord, which stops PostgreSQL after the last request.
  const options = { ...processOptions(account), detached: true };
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output = (output + chunk).slice(-keptOutput);
  });
  let over = false;
  const ended = new Promise<string>((done) => {
    const end = (text: string) => {
      over = true;
      done(text);
    };
    child.once('error', (error) => end(`FATAL: ${error.message}`));
    child.once('close', () => end(output));
  });
  while (!over) {
    const file = await readPostmasterFile(files);
    if (file?.pid === child.pid && file?.status === 'ready')
      return { port, ended, signal: (signal) => void child.kill(signal) };
    await wait(5);
  }
  throw new LaunchError(await ended);
}

/** Takes over a PostgreSQL that an earlier process started. */
export function adopt(pid: number, port: number, files: string): Postmaster {
  let over = false;
  const ended = (async () => {
    while (await worksOn(pid, files)) await wait(100);
    over = true;
    return '';
  })();
  const signal = (name: NodeJS.Signals) => {
    if (!over && isRunning(pid)) process.kill(pid, name);
  };
  return { port, ended, signal };
}

/** Stops PostgreSQL: fast, then without a checkpoint, then by force. Each preserves committed data. */
export async function terminate(postmaster: Postmaster, graceMs = 8_000): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    postmaster.signal(signal);
    const hasEnded = await within(graceMs, postmaster.ended).then(
      () => true,
      () => false,
    );
    if (hasEnded) return;
  }
}

/** The content of `postmaster.pid`, which a running PostgreSQL writes. */
export interface PostmasterFile {
  pid: number;
  port: number;
  status: 'starting' | 'stopping' | 'ready' | 'standby';
}

/** Reads `postmaster.pid`; undefined if it is missing or incomplete. */
export async function readPostmasterFile(files: string): Promise<PostmasterFile | undefined> {
  const content = await readFile(path.join(files, 'postmaster.pid'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  // pid, folder, start time, port, socket folder, address, shared memory, status
  const [pid, , , port, , , , status] = content.split('\n');
  if (!pid || !status) return undefined;
  return { pid: Number(pid), port: Number(port), status: status.trim() as PostmasterFile['status'] };
}

/**
 * Whether a pid is a PostgreSQL that runs on this database: not a zombie, not an unrelated process with a
 * reused pid, and not the PostgreSQL of the folder that this one was copied from.
 */
export async function worksOn(pid: number, files: string): Promise<boolean> {
  if (!isRunning(pid)) return false;
  if (process.platform !== 'linux') return (await namedFolder(files)) === files;
  try {
    const [cwd, own] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(files)]);
    return cwd.dev === own.dev && cwd.ino === own.ino;
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    // In a container root may not follow another user's links in /proc, but may read command lines.
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.split('\0').includes(files);
  }
}

/** Whether a process with this pid exists, even as a zombie or of another user. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function namedFolder(files: string): Promise<string | undefined> {
  return (await readFile(path.join(files, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[1];
}

/** Below the ephemeral ports (from 32768 on Linux), which an outgoing connection might take at any moment. */
const first = 15_000;
const last = 32_000;
const maxTries = 100;

/**
 * Finds a free port of 127.0.0.1 for a program that cannot choose one itself. While this process lives, no
 * call in any process returns the port again: the program may start to listen much later.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const port = randomInt(first, last);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`No free port between ${first} and ${last}.`);
}

/** Holds the UDP port of the same number, which does not hinder a program that listens with TCP. */
function reserve(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => {
      socket.close();
      done(false);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => done(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
