import pg from 'pg';
import { StartupError } from '#lib/errors/fail.ts';

/**
 * Connects a client at start.
 * @throws StartupError without the password, if the database cannot be reached or refuses the login.
 */
export async function connectAtStart(client: pg.Client): Promise<void> {
  try {
    await client.connect();
  } catch (cause) {
    const reason = cause instanceof Error && cause.message ? cause.message : 'no connection';
    throw new StartupError(
      `The database at ${client.host}:${client.port} (DATABASE_URL) cannot be used: ${reason}.`,
      { cause },
    );
  }
}

/** Returns why pg cannot parse a connection string or read its certificates, without quoting the string. */
export function connectionStringFault(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'it starts with another scheme';
  try {
    new pg.Client({ connectionString: text });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Whether any of the tables has a row. Missing tables count as empty.
 * @param tables as `schema.table`, never from input. @throws StartupError if the database cannot be reached.
 */
export async function hasRows(url: string, tables: readonly string[]): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await connectAtStart(client);
  try {
    for (const table of tables) {
      const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
      if (!rows[0].exists) continue;
      const found = await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
      if (found.rows.length > 0) return true;
    }
    return false;
  } finally {
    await client.end();
  }
}
