import pg from 'pg';
import { connectAtStart } from '#lib/db/connect-at-start.ts';

/**
 * Whether one of these tables has a row; tables that do not exist yet have none.
 * @param tables as `schema.table`, from our own code. @throws StartupError if the database cannot be reached.
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
