import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import type { EarlierRecord, StatusFacts } from '../domain/records.ts';
import type { Leader } from '../domain/transaction.ts';

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
  leader: Leader | null;
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

/** SQL: whether `r` is the newest committed record of its subject, object and key. */
export const isNewest = sql`(r.state = 'COMMITTED' AND NOT EXISTS (
    SELECT 1 FROM records AS n
     WHERE n.state = 'COMMITTED' AND n.subject = r.subject AND n.object = r.object AND n.key = r.key
       AND (n.committed_at, n.id) > (r.committed_at, r.id)))`;

export const recordColumns = sql`
  r.id, r.transaction, r.subject, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey",
  r.info_serial AS "infoSerial",
  r.value, r.state, r.origin, r.author, r.comment, r.created_at AS "createdAt", r.expires_at AS "expiresAt",
  CASE WHEN r.origin = 'PEER'
       THEN (SELECT t.leader FROM transactions AS t WHERE t.id = r.transaction) END AS leader`;

/** The columns of {@link StatusFacts}. */
export const statusColumns = sql`
  r.state, r.key, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
  r.expires_at AS "expiresAt", ${isNewest} AS newest`;

const perKey = 100;

/** The facts that the statuses of a transaction's records depend on. */
export async function readStatusFacts(db: Queries, transaction: string): Promise<StatusFacts[]> {
  return db.query<StatusFacts>(sql`
    SELECT ${statusColumns} FROM records AS r WHERE r.transaction = ${transaction}`);
}

/** A subject's records, the newest 100 of each key and object, newest first. */
export async function readRecords(db: Queries, filter: RecordFilter): Promise<StoredRecord[]> {
  return db.query<StoredRecord>(sql`
    SELECT ranked.* FROM (
      SELECT ${recordColumns}, ${isNewest} AS newest,
             row_number() OVER (PARTITION BY r.key, r.object ORDER BY r.created_at DESC, r.id DESC) AS place
        FROM records AS r WHERE ${join(conditions(filter), ' AND ')}) AS ranked
     WHERE ranked.place <= ${perKey}
     ORDER BY ranked.key, ranked.object, ranked.place`);
}

function conditions({ subject, elements, infos, object, value, after, before }: RecordFilter): Statement[] {
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

/** SQL of the newest committed record for `element.key`, which is one index probe. */
export function newestRecord(subject: Statement, object: Statement): Statement {
  return sql`
    SELECT r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial", r.value,
           r.positions,
           r.committed_at AS "committedAt", r.expires_at AS "expiresAt"
      FROM records AS r
     WHERE r.state = 'COMMITTED' AND r.subject = ${subject} AND r.object = ${object} AND r.key = element.key
     ORDER BY r.committed_at DESC, r.id DESC
     LIMIT 1`;
}

/** The newest committed record of a subject and object for each key that has one. */
export async function readEarlier(
  db: Queries,
  subject: string,
  object: string,
  keys: readonly string[],
): Promise<EarlierRecord[]> {
  return db.query<EarlierRecord>(sql`
    SELECT newest.* FROM unnest(${keys}::text[]) AS element (key)
     CROSS JOIN LATERAL (${newestRecord(sql`${subject}`, sql`${object}`)}) AS newest`);
}

/** `body` is the exact text that was signed. */
export interface StoredReceipt {
  body: string;
  jws: string;
}

export async function readReceipt(db: Queries, transaction: string): Promise<StoredReceipt | undefined> {
  return db.maybeOne<StoredReceipt>(
    sql`SELECT r.body, r.jws FROM receipts AS r WHERE r.transaction = ${transaction}`,
  );
}

/** The body of a receipt, or of its draft while the answers wait for peers. */
export async function readReceiptBody(db: Queries, transaction: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ body: string }>(sql`
    SELECT r.body FROM receipts AS r WHERE r.transaction = ${transaction}
     UNION ALL
    SELECT d.body FROM receipt_drafts AS d WHERE d.transaction = ${transaction}
     LIMIT 1`);
  return row?.body;
}
