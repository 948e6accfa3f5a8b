import { execFile } from 'node:child_process';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '../../support/instances/program-environment.ts';
import type { Evidence } from '../check/evidence.ts';
import type { Fault } from '../faults/fault.ts';
import { bugSettings } from '../planted/bug-settings.ts';
import type { Random } from '../random.ts';
import type { Mailbox } from './mailbox.ts';

/** An instance of Accord and all that it stands on, each part of which can be broken. */
export interface World {
  baseUrl: string;
  /** Of an API key. */
  headers: Record<string, string>;
  mailbox: Mailbox;
  /** Everything that can happen to it. */
  faults: readonly Fault[];
  /** How many replies of PostgreSQL were swallowed until now. */
  lostReplies(): number;
  /** Waits until all that was written has been sent, and reads what the checker needs. */
  gather(): Promise<Omit<Evidence, 'history' | 'mails'>>;
  stop(): Promise<void>;
}

/** What a world is made with. */
export interface WorldOptions {
  random: Random;
  /** A bug to plant in every process (test/chaos/planted). */
  bug?: string | undefined;
  /** How long events may take in the end, until they count as never sent. */
  patienceMs?: number;
  /** Where what processes say is kept. */
  logFolder?: string;
}

/** A folder of a world's own. As root, PostgreSQL runs as a user who must be able to enter. */
export async function openFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-chaos-'));
  await chmod(folder, 0o755);
  return folder;
}

const project = path.join(import.meta.dirname, '..', '..', '..');

/**
 * Runs one of the project's commands until it ends. @param bug a bug to plant in it. @throws Error with what
 * it said unless it ends with 0.
 */
export async function runTool(
  [program, ...args]: readonly [program: string, ...args: string[]],
  environment: Record<string, string>,
  bug?: string,
): Promise<void> {
  const options = [path.join(project, program), ...args];
  const env = { ...programEnvironment, ...environment, ...bugSettings(bug) };
  await promisify(execFile)(process.execPath, options, { cwd: '/', env });
}
