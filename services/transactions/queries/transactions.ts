import type { Queries } from '#lib/db/database.ts';
import { empty, join, type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { EarlierRecord } from '../domain/records.ts';
import type {
  HistoryEntry,
  NewTransaction,
  ReadTransaction,
  State,
  Transaction,
} from '../domain/transaction.ts';
import { recordStateChange } from './events.ts';
import { recordInForce } from './records.ts';

/** Columns under their names in the domain; the table's alias must be `t`. */
export const transactionColumns = sql`
  t.id, t.subject, t.state, t.version, t.context, t.layout, t.kind, t.author, t.created_by AS "createdBy",
  t.is_address_known AS "isAddressKnown", t.parent, t.token_epoch AS "tokenEpoch",
  t.answers_digest AS "answersDigest", t.awaits_code AS "awaitsCode", t.leader, t.created_at AS "createdAt", t.changed_at AS "changedAt",
  t.expires_at AS "expiresAt", t.valid_until AS "validUntil", t.erased_at AS "erasedAt"`;

type Row = Transaction & { now: Date };

/** Splits a row into the transaction and the database's time. */
export function toReadTransaction({ now, ...transaction }: Row): ReadTransaction {
  return { transaction, now };
}

/** A transaction by id, with the database's time. */
export async function readTransaction(db: Queries, id: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Row>(sql`
    SELECT ${transactionColumns}, accord_now() AS now FROM transactions AS t WHERE t.id = ${id}`);
  return row && toReadTransaction(row);
}

/** The states that a transaction has had, oldest first. */
export function readHistory(db: Queries, id: string): Promise<HistoryEntry[]> {
  return db.query<HistoryEntry>(sql`
    SELECT h.version, h.state, h.at FROM transaction_history AS h
     WHERE h.transaction = ${id} ORDER BY h.version`);
}

/** A transaction with the body of its receipt, which is null before the commit. */
export async function readTransactionWithReceipt(db: Queries, id: string) {
  const row = await db.maybeOne<Row & { receipt: string | null }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, r.body AS receipt
      FROM transactions AS t LEFT JOIN receipts AS r ON r.transaction = t.id
     WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { receipt, ...rest } = row;
  return { ...toReadTransaction(rest), receipt };
}

/** A transaction with the subject's earlier answers to its elements; none if the context is `silent`. */
export async function readTransactionWithEarlier(db: Queries, id: string) {
  const object = sql`coalesce(t.context->>'object', '')`;
  const row = await db.maybeOne<Row & { earlier: StoredEarlier[] }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now,
           CASE WHEN (t.context->>'silent')::boolean THEN '[]'::jsonb ELSE (
             SELECT coalesce(jsonb_agg(to_jsonb(found)), '[]'::jsonb)
               FROM jsonb_array_elements_text(t.layout->'elements') AS element (key)
              CROSS JOIN LATERAL (${recordInForce(sql`t.subject`, object)}) AS found)
           END AS earlier
      FROM transactions AS t WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { earlier, ...rest } = row;
  return { ...toReadTransaction(rest), earlier: earlier.map(fromJson) };
}

type StoredEarlier = Omit<EarlierRecord, 'committedAt' | 'expiresAt'> & {
  committedAt: string;
  expiresAt: string | null;
};

function fromJson({ committedAt, expiresAt, ...stored }: StoredEarlier): EarlierRecord {
  return {
    ...stored,
    committedAt: new Date(committedAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}

/** SQL of `stateAt` (domain/transaction.ts) for a transaction `t`. */
export const stateNow = sql`
  CASE WHEN t.expires_at > accord_now() OR t.leader IS NOT NULL THEN t.state
       WHEN t.state = 'CREATED' OR (t.state = 'SUBMITTED' AND t.awaits_code) THEN 'TIMEOUT'
       WHEN t.state = 'SUBMITTED' THEN 'ROLLBACK'
       ELSE t.state END`;

/** Filters of a list. The time of creation is at or after `after`, and before `before`. */
export interface TransactionFilter {
  subject?: string;
  states?: State[];
  after?: Date;
  before?: Date;
}

function conditions({ subject, states, after, before }: TransactionFilter) {
  const all = [
    ...(subject === undefined ? [] : [sql`t.subject = ${subject}`]),
    ...(states ? [sql`${stateNow} = ANY(${states}::text[])`] : []),
    // Redundant; lets PostgreSQL use the index transactions_not_committed.
    ...(states && !states.includes('COMMITTED') ? [sql`t.state <> 'COMMITTED'`] : []),
    ...(after ? [sql`t.created_at >= ${after}`] : []),
    ...(before ? [sql`t.created_at < ${before}`] : []),
  ];
  return all.length > 0 ? join(all, ' AND ') : sql`true`;
}

/** A page of transactions, newest first. */
export async function listTransactions(
  db: Queries,
  filter: TransactionFilter,
  { after, limit, offset = 0 }: { after?: Position; limit: number; offset?: number },
) {
  const from = after ? sql`AND (t.created_at, t.id) < (${after.createdAt}::timestamptz, ${after.id})` : sql``;
  const rows = await db.query<Transaction & { now: Date; position: string }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, t.created_at::text AS position
      FROM transactions AS t WHERE ${conditions(filter)} ${from}
     ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit} OFFSET ${offset}`);
  return rows.map(({ position, ...row }) => ({ ...toReadTransaction(row), position }));
}

export async function countTransactions(db: Queries, filter: TransactionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`SELECT count(*) AS count FROM transactions AS t WHERE ${conditions(filter)}`,
  );
  return count;
}

/** The database's time, by which all rules are applied. */
export async function readNow(db: Queries): Promise<Date> {
  const { now } = await db.one<{ now: Date }>(sql`SELECT accord_now() AS now`);
  return now;
}

/** The open child of a transaction before its deadline. */
export async function readOpenChild(db: Queries, parent: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Row>(sql`
    SELECT ${transactionColumns}, accord_now() AS now FROM transactions AS t
     WHERE t.parent = ${parent} AND t.state IN ('CREATED', 'SUBMITTED') AND t.expires_at > accord_now()`);
  return row && toReadTransaction(row);
}

/**
 * Claims a context's digest and creates its transaction in one statement, with history, subject and event.
 * @returns undefined if the digest is claimed already.
 */
export async function insertWithClaim(
  db: Queries,
  digest: Buffer,
  created: NewTransaction,
  source: string,
): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Row>(sql`
    WITH claim AS (
      INSERT INTO context_claims (digest, transaction) VALUES (${digest}, ${created.id})
      ON CONFLICT (digest) DO NOTHING RETURNING transaction
    ), ${inserted(created, source, sql`FROM claim`)}
    SELECT ${transactionColumns}, accord_now() AS now FROM t`);
  return row && toReadTransaction(row);
}

/** Creates a transaction without a claim: a child, or a transaction to which the caller repoints a claim. */
export async function insertTransaction(
  db: Queries,
  created: NewTransaction,
  source: string,
): Promise<ReadTransaction> {
  const row = await db.one<Row>(sql`
    WITH ${inserted(created, source, empty)}
    SELECT ${transactionColumns}, accord_now() AS now FROM t`);
  return toReadTransaction(row);
}

function inserted(
  { id, context, layout, author, createdBy, isAddressKnown = true, parent, leader }: NewTransaction,
  source: string,
  from: Statement,
): Statement {
  return sql`t AS (
      INSERT INTO transactions (id, subject, state, version, context, layout, author, created_by,
                                is_address_known, parent, leader, created_at, changed_at, expires_at)
      SELECT ${id}, ${context.subject}, 'CREATED', 1, ${JSON.stringify(context)}::jsonb,
             ${JSON.stringify(layout)}::jsonb, ${author}, ${createdBy}::text, ${isAddressKnown}::boolean,
             ${parent}::text, ${leader}::jsonb, accord_now(), accord_now(),
             accord_now() + ${context.timeout}::interval ${from}
      RETURNING *
    ), ${storeSubject()}, ${recordStateChange('created', source)}`;
}

/**
 * A common table expression that stores the subject of the transaction in `t` if it is new, and otherwise
 * locks it, as `lockSubject` does: an erasure that is being stored is waited for.
 */
function storeSubject(): Statement {
  return sql`subject AS (
      INSERT INTO subjects (id, name, email_address, default_language, created_at, modified_at)
      SELECT ${newUuid()}::uuid, t.subject, t.context->'subjectInfos'->>'emailAddress',
             t.context->>'language', t.created_at, t.created_at
        FROM t
      ON CONFLICT (name) DO UPDATE SET name = excluded.name
    )`;
}

/** The number of a subject's transactions of the last 24 hours. @param limit where the count ends. */
export async function countRecent(db: Queries, subject: string, limit: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT 1 FROM transactions AS t
       WHERE t.subject = ${subject} AND t.created_at > accord_now() - interval '24 hours' LIMIT ${limit}) AS recent`);
  return count;
}
