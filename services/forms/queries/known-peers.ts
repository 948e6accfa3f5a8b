import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Replaces the list of this instance's peers. An older list than the one that is stored changes nothing. */
export async function saveKnownPeers(
  db: Queries,
  { ids, asOf }: { ids: readonly string[]; asOf: string },
): Promise<void> {
  await db.query(sql`
    INSERT INTO known_peers AS k (ids, as_of) VALUES (${ids}::text[], ${asOf}::timestamptz)
    ON CONFLICT (single) DO UPDATE SET ids = excluded.ids, as_of = excluded.as_of WHERE k.as_of <= excluded.as_of`);
}

/** Which of these ids are no peer's; none as long as the list is not known. */
export async function findUnknownPeers(db: Queries, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    SELECT g.id FROM unnest(${ids}::text[]) AS g (id) JOIN known_peers AS k ON g.id <> ALL (k.ids)`);
  return rows.map(({ id }) => id);
}
