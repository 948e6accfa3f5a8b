import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Peers that have not been seen to know this signing key of ours. */
export function listBehind(db: Queries, kid: string): Promise<{ id: string; url: string }[]> {
  return db.query(sql`
    SELECT p.id, p.url FROM peers AS p WHERE p.state = 'PAIRED' AND p.knows_kid IS DISTINCT FROM ${kid}`);
}

/** The peer has taken a request that this key has signed. */
export async function markKnown(db: Queries, id: string, kid: string): Promise<void> {
  await db.query(sql`UPDATE peers AS p SET knows_kid = ${kid} WHERE p.id = ${id}`);
}
