import type pg from 'pg';
import { StartupError } from '#lib/errors/fail.ts';

/**
 * Connects a client of its own at start.
 * @throws StartupError if the database cannot be reached or does not let us in; never with the password.
 */
export async function connectAtStart(client: pg.Client): Promise<void> {
  try {
    await client.connect();
  } catch (cause) {
    const said = cause instanceof Error && cause.message ? cause.message : 'no connection';
    throw new StartupError(
      `The database at ${client.host}:${client.port} (DATABASE_URL) cannot be used: ${said}.`,
      { cause },
    );
  }
}
