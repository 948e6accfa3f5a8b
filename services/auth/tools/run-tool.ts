import { Failure } from '#lib/errors/fail.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import { type OpenedDatabase, openAuthDatabase } from './open-auth-database.ts';

/**
 * Runs a command of the operator on the service's database. Prints what it says; a fault is one sentence and exit 1.
 * @param prepare reads arguments and whatever else is needed before the database is opened.
 */
export async function runTool(
  prepare: () => Promise<(opened: OpenedDatabase) => Promise<string>>,
): Promise<void> {
  try {
    const command = await prepare();
    const opened = await openAuthDatabase(process.env);
    try {
      process.stdout.write(`${await command(opened)}\n`);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
