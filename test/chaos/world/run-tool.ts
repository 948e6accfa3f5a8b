import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '../../support/instances/program-environment.ts';
import { bugSettings } from '../planted/bug-settings.ts';

const project = path.join(import.meta.dirname, '..', '..', '..');

/** Runs one of the project's commands until it ends. @param bug a bug to plant in it. @throws Error with what it said unless it ends with 0. */
export async function runTool(
  [program, ...args]: readonly [program: string, ...args: string[]],
  environment: Record<string, string>,
  bug?: string,
): Promise<void> {
  const options = [path.join(project, program), ...args];
  const env = { ...programEnvironment, ...environment, ...bugSettings(bug) };
  await promisify(execFile)(process.execPath, options, { cwd: '/', env });
}
