import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { LogHead, NotedHead } from '#lib/witness/checkpoint-note.ts';
import type { NoteKeys } from '../domain/description.ts';
import type { ShownHead } from '../domain/witness.ts';

/** A peer whose logs this instance witnesses. */
export interface WitnessedPeer {
  id: string;
  url: string;
  noteKeys: NoteKeys | null;
}

/** Finds the peer whose logs have the names `<host>/<area>`, if both are to witness each other. */
export function findWitnessedPeer(db: Queries, host: string): Promise<WitnessedPeer | undefined> {
  return db.maybeOne(sql`
    SELECT p.id, p.url, p.note_keys AS "noteKeys" FROM peers AS p
     WHERE p.url IN (${`https://${host}`}, ${`http://${host}`}) AND p.witness AND p.state = 'PAIRED'`);
}

/** Stores the keys of notes that a peer states. */
export async function storeNoteKeys(tx: Queries, id: string, keys: NoteKeys | null): Promise<void> {
  await tx.query(
    sql`UPDATE peers AS p SET note_keys = ${keys && JSON.stringify(keys)}::jsonb WHERE p.id = ${id}`,
  );
}

/** The newest head of a log that was cosigned. */
export async function readWitnessedHead(db: Queries, origin: string): Promise<LogHead | undefined> {
  const row = await db.maybeOne<{ size: string; root: Buffer }>(sql`
    SELECT h.size, h.root FROM witnessed_heads AS h WHERE h.origin = ${origin}`);
  return row && { size: Number(row.size), root: row.root };
}

/**
 * Stores a head in place of the one that it was compared with. The COMMIT comes before the cosignature is
 * sent (c2sp.org/tlog-witness).
 * @returns whether that one was still the newest.
 */
export async function replaceWitnessedHead(
  db: Queries,
  { origin, size, root }: NotedHead,
  known: LogHead | undefined,
): Promise<boolean> {
  const stored = known
    ? await db.query(sql`
        UPDATE witnessed_heads AS h SET size = ${size}::bigint, root = ${root}, disputed = NULL
         WHERE h.origin = ${origin} AND h.size = ${known.size}::bigint AND h.root = ${known.root} RETURNING 1`)
    : await db.query(sql`
        INSERT INTO witnessed_heads (origin, size, root) VALUES (${origin}, ${size}::bigint, ${root})
        ON CONFLICT DO NOTHING RETURNING 1`);
  return stored.length > 0;
}

/** Notes a head that contradicts the known one. @returns false if one is noted since the last cosignature. */
export async function disputeWitnessedHead(tx: Queries, origin: string, stated: ShownHead): Promise<boolean> {
  const noted = await tx.query(sql`
    UPDATE witnessed_heads AS h SET disputed = ${JSON.stringify(stated)}::jsonb
     WHERE h.origin = ${origin} AND h.disputed IS NULL RETURNING 1`);
  return noted.length > 0;
}

/** Forgets what both sides know of each other's logs: an administrator accepts whatever comes next. */
export async function forgetWitnessing(tx: Queries, url: string): Promise<void> {
  await tx.query(sql`
    DELETE FROM witnessed_heads AS h WHERE starts_with(h.origin, ${`${new URL(url).host}/`})`);
  await tx.query(sql`DELETE FROM witness_states AS s WHERE s.witness = ${url}`);
}
