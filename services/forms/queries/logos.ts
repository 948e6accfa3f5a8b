import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

export interface Logo {
  id: string;
  mediaType: string;
  body: Buffer;
}

export async function insertLogo(db: Queries, { id, mediaType, body }: Logo): Promise<void> {
  await db.query(sql`
    INSERT INTO logos (id, media_type, body, created_at) VALUES (${id}, ${mediaType}, ${body}, accord_now())`);
}

export function readLogo(db: Queries, id: string): Promise<Logo | undefined> {
  return db.maybeOne<Logo>(
    sql`SELECT l.id, l.media_type AS "mediaType", l.body FROM logos AS l WHERE l.id = ${id}`,
  );
}

export async function existingLogos(db: Queries, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    sql`SELECT l.id FROM logos AS l WHERE l.id = ANY(${ids}::uuid[])`,
  );
  return new Set(rows.map(({ id }) => id));
}
