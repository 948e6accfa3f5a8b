import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { isEntryId, parseSerial } from '../domain/identifiers.ts';

export interface Logo {
  id: string;
  mediaType: string;
  body: Buffer;
}

export async function insertLogo(db: Queries, { id, mediaType, body }: Logo): Promise<void> {
  await db.query(sql`
    INSERT INTO logos (id, media_type, body, created_at) VALUES (${id}, ${mediaType}, ${body}, accord_now())`);
}

/** Stores an image whose bytes determine its id. @returns false if it is there. */
export async function insertNewLogo(db: Queries, { id, mediaType, body }: Logo): Promise<boolean> {
  const stored = await db.query(sql`
    INSERT INTO logos (id, media_type, body, created_at) VALUES (${id}, ${mediaType}, ${body}, accord_now())
    ON CONFLICT DO NOTHING RETURNING 1`);
  return stored.length > 0;
}

export function readLogo(db: Queries, id: string): Promise<Logo | undefined> {
  return db.maybeOne<Logo>(
    sql`SELECT l.id, l.media_type AS "mediaType", l.body FROM logos AS l WHERE l.id = ${id}`,
  );
}

/** @returns the ids among these that exist. */
export async function existingLogos(db: Queries, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.query<{ id: string }>(
    sql`SELECT l.id FROM logos AS l WHERE l.id = ANY(${ids}::uuid[])`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * The style sheet of a theme's version: '' if it has none, undefined if the version does not exist.
 * @param name a serial or a version's id.
 */
export async function readThemeCss(db: Queries, key: string, name: string): Promise<string | undefined> {
  const serial = parseSerial(name);
  const id = isEntryId(name) ? name : null;
  if (!serial && !id) return undefined;
  const row = await db.maybeOne<{ css: string | null }>(sql`
    SELECT v.data -> v.default_language ->> 'css' AS css
      FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE m.type = 'theme' AND m.key = ${key}
       AND (v.id = ${id}::uuid OR (v.major = ${serial?.major ?? null}::int AND v.minor = ${serial?.minor ?? null}::int))`);
  return row && (row.css ?? '');
}
