import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** Runs a program to its end. Rejects with what it has written to standard error. */
export const execute = promisify(execFile);

/** A program on PATH. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/** Infrastructure that cannot be had here, and the command that would help. */
export class MissingInfrastructure extends Error {
  constructor(what: string, tried: readonly string[], help: string) {
    super(
      `${what} cannot be started here:\n${tried.map((each) => `  - ${each}`).join('\n')}\nThis would help: ${help}`,
    );
    this.name = 'MissingInfrastructure';
  }
}

/** One line of what went wrong. */
export function tell(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || message || String(error)).split('\n').slice(-3).join(' ').slice(0, 400);
}
