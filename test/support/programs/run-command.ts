import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { programEnvironment } from '../instances/program-environment.ts';

const project = path.join(import.meta.dirname, '..', '..', '..');

/**
 * Runs a script of the project as an operator does, and waits for its end. @param input what is typed, or
 * piped in.
 */
export async function runCommand(
  script: string,
  args: readonly string[],
  { env, input = '' }: { env: Record<string, string>; input?: string },
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, [path.join(project, script), ...args], {
    cwd: '/',
    env: { ...programEnvironment, ...env },
  });
  child.stdin.on('error', () => {}); // It may end without reading.
  child.stdin.end(input);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output, errors };
}
