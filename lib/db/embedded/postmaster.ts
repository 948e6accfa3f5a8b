import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { type Account, processOptions } from '#lib/db/embedded/account.ts';
import type { Binaries } from '#lib/db/embedded/binaries.ts';
import { isRunning, readPostmasterFile, worksOn } from '#lib/db/embedded/postmaster-file.ts';
import { serverSettings, settingArguments } from '#lib/db/embedded/server-settings.ts';

/** A running PostgreSQL. */
export interface Postmaster {
  port: number;
  /** Sends a signal unless it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended, with the last that it said on standard error. */
  ended: Promise<string>;
}

/** What a PostgreSQL said that ended before it was ready. */
export class LaunchError extends Error {
  readonly output: string;
  constructor(output: string) {
    super('PostgreSQL ended while it started.');
    this.output = output;
  }
}

/** What a process may leave on standard error, from the end. */
const keptOutput = 8_192;

/**
 * Starts PostgreSQL and waits until it is ready, after a crash until it has recovered.
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
  // In a session of its own: Ctrl-C is for Accord, which stops PostgreSQL when the last request is done.
  const options = { ...processOptions(account), detached: true };
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output = (output + chunk).slice(-keptOutput);
  });
  let over = false;
  const ended = new Promise<string>((done) => {
    const end = (words: string) => {
      over = true;
      done(words);
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

/** Stops it: fast, then without a last checkpoint, then by force. Acknowledged data survive each of them. */
export async function terminate(postmaster: Postmaster, patienceMs = 8_000): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    postmaster.signal(signal);
    const patience = new AbortController();
    const gone = await Promise.race([
      postmaster.ended.then(() => true),
      wait(patienceMs, false, { signal: patience.signal }).catch(() => false),
    ]);
    patience.abort();
    if (gone) return;
  }
}
