import type { TestInstance } from './instance.ts';
import { rowsOf } from './live-database.ts';

/** The tables whose rows contain a text in any column. */
export async function tablesWith(
  instance: Pick<TestInstance, 'databaseUrl'>,
  text: string,
): Promise<string[]> {
  const tables = await rowsOf<{ schema: string; name: string }>(
    instance,
    `SELECT schemaname AS schema, tablename AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { schema, name } of tables) {
    const hits = await rowsOf(
      instance,
      `SELECT FROM "${schema}"."${name}" AS t WHERE strpos(lower(t::text), lower($1)) > 0 LIMIT 1`,
      [text],
    );
    if (hits.length > 0) found.push(`${schema}.${name}`);
  }
  return found;
}
