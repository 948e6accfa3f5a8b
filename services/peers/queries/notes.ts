import type { AuditArea } from '#lib/contracts/audit-areas.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { LogHead } from '#lib/witness/checkpoint-note.ts';

/** A head of a log of this instance with its signed note. */
export interface StoredNote extends LogHead {
  area: AuditArea;
  note: string;
}

/** What a witness has signed under a head. */
export interface StoredCosignature {
  area: string;
  size: number;
  witness: string;
  signature: string;
}

/** Stores the note of a head, unless another checkpoint has stated the head. */
export async function insertNote(tx: Queries, { area, size, root, note }: StoredNote): Promise<void> {
  await tx.query(sql`
    INSERT INTO notes (area, size, root, note) VALUES (${area}, ${size}::bigint, ${root}, ${note})
    ON CONFLICT DO NOTHING`);
}

/** The newest note of each area, or of one. */
export async function readNewestNotes(db: Queries, area?: string): Promise<StoredNote[]> {
  const rows = await db.query<Omit<StoredNote, 'size'> & { size: string }>(sql`
    SELECT DISTINCT ON (n.area) n.area, n.size, n.root, n.note FROM notes AS n
     WHERE ${area === undefined ? sql`true` : sql`n.area = ${area}`} ORDER BY n.area, n.size DESC`);
  return rows.map((row) => ({ ...row, size: Number(row.size) }));
}

/** The root that a note of this instance has stated at a size. */
export async function readNotedRoot(db: Queries, area: string, size: number): Promise<Buffer | undefined> {
  const row = await db.maybeOne<{ root: Buffer }>(sql`
    SELECT n.root FROM notes AS n WHERE n.area = ${area} AND n.size = ${size}::bigint`);
  return row?.root;
}

/** The cosignatures under heads, by area and witness. */
export async function readCosignatures(
  db: Queries,
  heads: readonly { area: string; size: number }[],
): Promise<StoredCosignature[]> {
  const rows = await db.query<Omit<StoredCosignature, 'size'> & { size: string }>(sql`
    SELECT c.area, c.size, c.witness, c.signature
      FROM unnest(${heads.map(({ area }) => area)}::text[], ${heads.map(({ size }) => size)}::bigint[])
        AS h (area, size) JOIN cosignatures AS c USING (area, size)
     ORDER BY c.area, c.witness`);
  return rows.map((row) => ({ ...row, size: Number(row.size) }));
}
