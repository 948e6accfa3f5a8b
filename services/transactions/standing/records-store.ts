import type { StatusFacts } from '#lib/contracts/record-status.ts';
import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { isInForce } from '../person/positions-sql.ts';
import type { Collection } from '../transaction/context.ts';
import type { Leader } from '../transaction/transaction.ts';

/** A stored record with the facts that its status depends on. */
export interface StoredRecord extends StatusFacts {
  id: string;
  transaction: string;
  subject: string;
  object: string;
  type: string;
  value: string[];
  origin: string;
  author: string;
  comment: string | null;
  createdAt: Date;
  /** The accepted record that this refusal ended. */
  withdraws: string | null;
  leader: Leader | null;
  /** From where it was taken over; null: it was collected here or at a peer. */
  imported: ImportedFrom | null;
  /** How an answer came that staff recorded for the person. */
  collection: Pick<Collection, 'way' | 'givenOn'> | null;
}

/** Where an answer was taken over from another system (docs/moving.md). */
export interface ImportedFrom {
  /** RFC 3339: when, and by whom. */
  at: string;
  by: string;
  source: string;
  sourceId: string;
  evidence: 'RECEIPT' | 'HASH' | 'URL' | null;
  verified: boolean;
}

/** Filters of a list of records; they never change which record is the newest. */
export interface RecordFilter {
  subject: string;
  elements?: string[];
  infos?: string[];
  object?: string;
  value?: string;
  after?: Date;
  before?: Date;
}

/** SQL: {@link ImportedFrom} of a record `r`, as JSON. */
const importedFrom = sql`
  SELECT jsonb_build_object('at', t.created_at, 'by', t.author, 'source', a.source, 'sourceId', a.source_id,
                            'evidence', e.kind, 'verified', coalesce(e.verified, false))
    FROM imported_answers AS a JOIN transactions AS t ON t.id = r.transaction
    LEFT JOIN import_evidence AS e ON e.transaction = t.id
   WHERE a.record = r.id`;

const recordColumns = sql`
  r.id, r.transaction, r.subject, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey",
  r.info_serial AS "infoSerial",
  r.value, r.state, r.origin, r.author, r.comment, r.withdraws, r.created_at AS "createdAt", r.expires_at AS "expiresAt",
  CASE WHEN r.origin = 'PEER'
       THEN (SELECT t.leader FROM transactions AS t WHERE t.id = r.transaction) END AS leader,
  CASE WHEN r.origin = 'OPERATOR'
       THEN (SELECT t.context -> 'collection' FROM transactions AS t WHERE t.id = r.transaction)
  END AS collection,
  CASE WHEN r.origin = 'IMPORTED' THEN (${importedFrom}) END AS imported`;

/** SQL: whether the person has cleared the answer (`isNoAnswer` of lib/contracts/record-status.ts). */
const isNoAnswer = sql`(r.value = '{}' AND r.positions IS NULL AND r.state <> 'ERASED')`;

/** The columns of {@link StatusFacts}. */
export const statusColumns = sql`
  r.state, r.key, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
  r.expires_at AS "expiresAt", ${isInForce} AS "isInForce", ${isNoAnswer} AS "isNoAnswer"`;

const maxPerKey = 100;

/** The facts that the statuses of a transaction's records depend on. */
export async function readStatusFacts(db: Queries, transaction: string): Promise<StatusFacts[]> {
  return db.query<StatusFacts>(sql`
    SELECT ${statusColumns} FROM records AS r WHERE r.transaction = ${transaction}`);
}

/** A subject's records, the newest 100 of each key and object, newest first. */
export async function readRecords(db: Queries, filter: RecordFilter): Promise<StoredRecord[]> {
  return db.query<StoredRecord>(sql`
    SELECT ranked.* FROM (
      SELECT ${recordColumns}, ${isInForce} AS "isInForce", ${isNoAnswer} AS "isNoAnswer",
             row_number() OVER (PARTITION BY r.key, r.object ORDER BY r.created_at DESC, r.id DESC) AS place
        FROM records AS r WHERE ${join(filterSql(filter), ' AND ')}) AS ranked
     WHERE ranked.place <= ${maxPerKey}
     ORDER BY ranked.key, ranked.object, ranked.place`);
}

function filterSql({ subject, elements, infos, object, value, after, before }: RecordFilter): Statement[] {
  return [
    sql`r.subject = ${subject}`,
    ...(elements ? [sql`r.key = ANY(${elements}::text[])`] : []),
    ...(infos ? [sql`r.info_key = ANY(${infos}::text[])`] : []),
    ...(object === undefined ? [] : [sql`r.object = ${object}`]),
    ...(value === undefined ? [] : [sql`${value} = ANY(r.value)`]),
    ...(after ? [sql`r.created_at >= ${after}`] : []),
    ...(before ? [sql`r.created_at < ${before}`] : []),
  ];
}

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

/** Positions before the first and behind the last record of a list that starts with the newest. */
export const newestPosition: Position = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
const oldestPosition: Position = { createdAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** A part of a list that starts with the newest: after one position, up to and with another one. */
export interface Stretch {
  after: Position;
  /** Undefined: all that is left. */
  to: Position | undefined;
}

const within = ({ after, to = oldestPosition }: Stretch) => sql`(
  (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
  AND (r.created_at, r.id) >= (${to.createdAt}::timestamptz, ${to.id}::uuid))`;

/**
 * The next stretch in which no key has more than `limit` answers, whatever they say. What matches is sought
 * in one stretch after the other: by the planner's estimate so few match that it would read and sort all
 * answers to a question.
 */
export async function nextStretch(
  db: Queries,
  keys: readonly string[],
  { after, limit }: { after: Position; limit: number },
): Promise<Stretch> {
  const to = await db.maybeOne<Position>(sql`
    SELECT e.created_at::text AS "createdAt", e.id
      FROM unnest(${keys}::text[]) AS k (key)
     CROSS JOIN LATERAL (
           SELECT r.created_at, r.id FROM records AS r
            WHERE r.key = k.key AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
            ORDER BY r.created_at DESC, r.id DESC
           OFFSET ${limit - 1} LIMIT 1) AS e
     ORDER BY e.created_at DESC, e.id DESC LIMIT 1`);
  return { after, to };
}

const extracted = sql`
    SELECT ${recordColumns}, true AS "isInForce", s.email_address AS "emailAddress", r.created_at::text AS position
      FROM records AS r LEFT JOIN subjects AS s ON s.name = r.subject`;

/** Committed records in a stretch that match any of the conditions, newest first. */
export async function readCandidates(
  db: Queries,
  conditions: readonly Condition[],
  stretch: Stretch,
): Promise<Candidate[]> {
  return db.query<Candidate>(sql`
    SELECT DISTINCT r.created_at, r.id, r.subject, r.created_at::text AS position
      FROM unnest(${column(conditions, 'key')}::text[], ${column(conditions, 'value')}::text[],
                  ${column(conditions, 'type')}::text[], ${column(conditions, 'serial')}::text[])
             AS c (key, value, type, serial)
      JOIN records AS r ON r.key = c.key AND c.value = ANY(r.value) AND r.type = coalesce(c.type, r.type)
                       AND r.serial = coalesce(c.serial, r.serial) AND ${isInForce} AND ${within(stretch)}
     ORDER BY r.created_at DESC, r.id DESC`);
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
  return db.query<ExtractedRecord>(sql`${extracted}
     WHERE r.subject = ANY(${subjects}::text[]) AND r.key = ANY(${keys}::text[]) AND ${isInForce}
     ORDER BY r.created_at DESC, r.id DESC`);
}

/** Committed records in a stretch that match a condition, newest first. */
export async function readMatching(
  db: Queries,
  { key, value, type = null, serial = null }: { [Name in keyof Condition]: Condition[Name] | null },
  stretch: Stretch,
): Promise<ExtractedRecord[]> {
  return db.query<ExtractedRecord>(sql`${extracted}
     WHERE r.key = ${key} AND ${value} = ANY(r.value)
       AND r.type = coalesce(${type}, r.type) AND r.serial = coalesce(${serial}, r.serial)
       AND ${isInForce} AND ${within(stretch)}
     ORDER BY r.created_at DESC, r.id DESC`);
}

/** Ids of a transaction's records, by key. */
export async function readRecordIds(db: Queries, transaction: string): Promise<Map<string, string>> {
  const rows = await db.query<{ key: string; id: string }>(sql`
    SELECT r.key, r.id FROM records AS r WHERE r.transaction = ${transaction}`);
  return new Map(rows.map(({ key, id }) => [key, id]));
}
