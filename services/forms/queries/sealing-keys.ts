import type { JWK } from 'jose';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Public keys that answers are sealed to, by the peer's base URL. */
export async function readSealingKeys(db: Queries, urls: readonly string[]): Promise<Map<string, JWK>> {
  const rows = await db.query<{ url: string; key: JWK }>(
    sql`SELECT p.url, p.sealing_key AS key FROM peers AS p WHERE p.url = ANY(${urls}::text[])`,
  );
  return new Map(rows.map(({ url, key }) => [url, key]));
}
