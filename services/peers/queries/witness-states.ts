import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { NoteKeys } from '../domain/description.ts';
import type { ShownHead } from '../domain/witness.ts';
import type { StoredCosignature } from './notes.ts';

/** One log of this instance at one witness. */
export interface WitnessedLog {
  /** Base URL of a peer, or the address of another witness. */
  witness: string;
  area: string;
}

/** Peers that are asked to cosign. */
export function listWitnessPeers(
  db: Queries,
): Promise<{ id: string; url: string; noteKeys: NoteKeys | null }[]> {
  return db.query(sql`
    SELECT p.id, p.url, p.note_keys AS "noteKeys" FROM peers AS p
     WHERE p.witness AND p.state = 'PAIRED' ORDER BY p.url`);
}

/**
 * Claims an attempt for a head without a cosignature, so that all replicas together make at most one a
 * minute.
 * @param keys of the witness. @returns the size that the witness knows; undefined if there is nothing to do.
 */
export async function claimAttempt(
  db: Queries,
  { witness, area }: WitnessedLog,
  { size, keys }: { size: number; keys: readonly string[] },
): Promise<number | undefined> {
  const claimed = await db.maybeOne<{ size: string }>(sql`
    INSERT INTO witness_states AS s (witness, area, attempted_at)
    SELECT ${witness}, ${area}, accord_now()
     WHERE NOT EXISTS (SELECT FROM cosignatures AS c
                        WHERE c.area = ${area} AND c.size = ${size}::bigint AND c.witness = ANY(${keys}))
    ON CONFLICT (witness, area) DO UPDATE SET attempted_at = accord_now()
     WHERE s.attempted_at <= accord_now() - interval '1 minute'
    RETURNING s.size`);
  return claimed && Number(claimed.size);
}

/** Stores the cosignature under a head that a witness has accepted. */
export async function storeCosignature(
  tx: Queries,
  witness: string,
  { area, size, witness: key, signature }: StoredCosignature,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO cosignatures (area, size, witness, signature)
    VALUES (${area}, ${size}::bigint, ${key}, ${signature}) ON CONFLICT DO NOTHING`);
  await tx.query(sql`
    UPDATE witness_states AS s
       SET size = ${size}::bigint, cosigned_at = accord_now(), error = NULL, disputed = NULL
     WHERE s.witness = ${witness} AND s.area = ${area}`);
}

/** Stores the size that a witness says it knows. */
export async function storeKnownSize(db: Queries, { witness, area }: WitnessedLog, size: number) {
  await db.query(sql`
    UPDATE witness_states AS s SET size = ${size}::bigint WHERE s.witness = ${witness} AND s.area = ${area}`);
}

/** Stores why an attempt failed. */
export async function storeAttemptError(db: Queries, { witness, area }: WitnessedLog, error: string) {
  await db.query(sql`
    UPDATE witness_states AS s SET error = ${error} WHERE s.witness = ${witness} AND s.area = ${area}`);
}

/** Notes a head that a witness refuses. @returns whether it is the first since its last cosignature. */
export async function disputeOwnHead(
  tx: Queries,
  { witness, area }: WitnessedLog,
  stated: ShownHead,
): Promise<boolean> {
  const noted = await tx.query(sql`
    UPDATE witness_states AS s SET disputed = ${JSON.stringify(stated)}::jsonb
     WHERE s.witness = ${witness} AND s.area = ${area} AND s.disputed IS NULL RETURNING 1`);
  return noted.length > 0;
}

/** How witnesses are doing, by their names. */
export async function readWitnesses(db: Queries, names: readonly string[]) {
  return db.query<{ name: string; isDisputing: boolean; lastError: string | null }>(sql`
    SELECT w.name, coalesce(bool_or(s.disputed IS NOT NULL), false) AS "isDisputing", max(s.error) AS "lastError"
      FROM unnest(${names}::text[]) AS w (name) LEFT JOIN witness_states AS s ON s.witness = w.name
     GROUP BY w.name ORDER BY w.name`);
}

/** Logs of which two histories are known: own ones, by a witness, and those of peers, by this instance. */
export async function countDisputes(db: Queries, others: readonly string[]): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    SELECT (SELECT count(*) FROM witness_states AS s
             WHERE s.disputed IS NOT NULL
               AND (s.witness = ANY(${others}) OR s.witness IN (SELECT p.url FROM peers AS p WHERE p.witness)))::int
         + (SELECT count(*) FROM witnessed_heads AS h WHERE h.disputed IS NOT NULL)::int AS count`);
  return count;
}
