import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { programEnvironment } from '../../support/instances/program-environment.ts';

/** Runs one of the project's commands until it ends. @throws Error with what it said unless it ends with 0. */
export async function runTool(
  project: string,
  [program, ...args]: readonly [program: string, ...args: string[]],
  environment: Record<string, string>,
): Promise<void> {
  const env = { ...programEnvironment, ...environment };
  await promisify(execFile)(process.execPath, [path.join(project, program), ...args], { cwd: '/', env });
}
