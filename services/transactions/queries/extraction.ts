import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { isNewest, recordColumns, type StoredRecord } from './records.ts';

/** An answer that a valid record must have. */
export interface Condition {
  key: string;
  value: string;
  type?: string;
  serial?: string;
}

export interface ExtractedRecord extends StoredRecord {
  emailAddress: string | null;
  /** The creation time in PostgreSQL's precision, for cursors. */
  position: string;
}

/** A matching record's position in the list. */
export type Candidate = Pick<ExtractedRecord, 'id' | 'subject' | 'position'>;

/** The position before the first record. */
const start: Position = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** Newest committed records that match any of the conditions, newest first. */
export async function readCandidates(
  db: Queries,
  conditions: readonly Condition[],
  { after = start, limit }: { after?: Position; limit: number },
): Promise<Candidate[]> {
  // Each condition is read in index order and only as far as the page needs.
  return db.query<Candidate>(sql`
    SELECT DISTINCT found.created_at, found.id, found.subject, found.created_at::text AS position
      FROM unnest(${column(conditions, 'key')}::text[], ${column(conditions, 'value')}::text[],
                  ${column(conditions, 'type')}::text[], ${column(conditions, 'serial')}::text[])
             AS c (key, value, type, serial)
     CROSS JOIN LATERAL (
           SELECT r.id, r.subject, r.created_at
             FROM records AS r
            WHERE r.key = c.key AND c.value = ANY(r.value) AND r.type = coalesce(c.type, r.type)
              AND r.serial = coalesce(c.serial, r.serial) AND ${isNewest}
              AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
            ORDER BY r.created_at DESC, r.id DESC
            LIMIT ${limit}) AS found
     ORDER BY found.created_at DESC, found.id DESC
     LIMIT ${limit}`);
}

function column(conditions: readonly Condition[], name: keyof Condition): (string | null)[] {
  return conditions.map((condition) => condition[name] ?? null);
}

/** The newest committed records of subjects for some keys, newest first. */
export async function readAnswersTo(
  db: Queries,
  subjects: readonly string[],
  keys: readonly string[],
): Promise<ExtractedRecord[]> {
  return db.query<ExtractedRecord>(sql`
    SELECT ${recordColumns}, true AS newest, s.email_address AS "emailAddress", r.created_at::text AS position
      FROM records AS r LEFT JOIN subjects AS s ON s.name = r.subject
     WHERE r.subject = ANY(${subjects}::text[]) AND r.key = ANY(${keys}::text[]) AND ${isNewest}
     ORDER BY r.created_at DESC, r.id DESC`);
}

/** Newest committed records that match a condition, newest first. */
export async function readMatching(
  db: Queries,
  { key, value, type = null, serial = null }: { [Name in keyof Condition]: Condition[Name] | null },
  { after = start, limit }: { after?: Position; limit: number },
): Promise<ExtractedRecord[]> {
  return db.query<ExtractedRecord>(sql`
    SELECT ${recordColumns}, true AS newest, s.email_address AS "emailAddress", r.created_at::text AS position
      FROM records AS r LEFT JOIN subjects AS s ON s.name = r.subject
     WHERE r.key = ${key} AND ${value} = ANY(r.value)
       AND r.type = coalesce(${type}, r.type) AND r.serial = coalesce(${serial}, r.serial)
       AND ${isNewest} AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
     ORDER BY r.created_at DESC, r.id DESC
     LIMIT ${limit}`);
}
