import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { isEntered, storeContacts } from '../person/contacts-sql.ts';
import { recordStateChange } from './events.ts';
import type { HistoryEntry, NewTransaction, ReadTransaction, Transaction } from './transaction.ts';

/** Columns under their names in the domain; the table's alias must be `t`. */
export const transactionColumns = sql`
  t.id, t.subject, t.state, t.version, t.context, t.layout, t.kind, t.author, t.created_by AS "createdBy",
  t.is_address_known AS "isAddressKnown", t.parent, t.token_epoch AS "tokenEpoch",
  t.answers_digest AS "answersDigest", t.awaits_code AS "awaitsCode", t.leader, t.created_at AS "createdAt", t.changed_at AS "changedAt",
  t.expires_at AS "expiresAt", t.valid_until AS "validUntil", t.erased_at AS "erasedAt"`;

/** A row of {@link transactionColumns} with the database's time. */
export type TransactionRow = Transaction & { now: Date };

/** Splits a row into the transaction and the database's time. */
export function toReadTransaction({ now, ...transaction }: TransactionRow): ReadTransaction {
  return { transaction, now };
}

/** A transaction by id, with the database's time. */
export async function readTransaction(db: Queries, id: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<TransactionRow>(sql`
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
  const row = await db.maybeOne<TransactionRow & { receipt: string | null }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, r.body AS receipt
      FROM transactions AS t LEFT JOIN receipts AS r ON r.transaction = t.id
     WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { receipt, ...rest } = row;
  return { ...toReadTransaction(rest), receipt };
}

/** SQL of `isByStranger` (transaction/transaction.ts) for a transaction `t`; null without a creator. */
export const byStranger = sql`(t.created_by LIKE 'public:%')`;

/** SQL of `stateAt` (transaction/transaction.ts) for a transaction `t`. */
export const stateNow = sql`
  CASE WHEN t.expires_at > accord_now() OR t.leader IS NOT NULL THEN t.state
       WHEN t.state = 'CREATED' OR (t.state = 'SUBMITTED' AND t.awaits_code) THEN 'TIMEOUT'
       WHEN t.state = 'SUBMITTED' THEN 'ROLLBACK'
       ELSE t.state END`;

/** The database's time, by which all rules are applied. */
export async function readNow(db: Queries): Promise<Date> {
  const { now } = await db.one<{ now: Date }>(sql`SELECT accord_now() AS now`);
  return now;
}

/** The open child of a transaction before its deadline. */
export async function readOpenChild(db: Queries, parent: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<TransactionRow>(sql`
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
  const row = await db.maybeOne<TransactionRow>(sql`
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
  const row = await db.one<TransactionRow>(sql`
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
    ), ${storeSubject()}, ${storeContacts({
      subject: sql`t.subject`,
      infos: sql`(t.context->'subjectInfos')`,
      from: sql`t`,
      isProven: isEntered({
        createdBy: sql`coalesce(t.created_by, '')`,
        isAddressKnown: sql`t.is_address_known`,
      }),
    })},
    ${recordStateChange('created', source)}`;
}

/**
 * A common table expression that stores the subject of the transaction in `t` if it is new, and otherwise
 * locks it, as `lockSubject` does: an erasure that is being stored is waited for. A subject is unproven as
 * long as only strangers have named it.
 */
function storeSubject(): Statement {
  return sql`subject AS (
      INSERT INTO subjects AS s (id, name, email_address, default_language, created_at, modified_at, unproven)
      SELECT ${newUuid()}::uuid, t.subject, t.context->'subjectInfos'->>'emailAddress',
             t.context->>'language', t.created_at, t.created_at, coalesce(${byStranger}, false)
        FROM t
      ON CONFLICT (name) DO UPDATE SET unproven = s.unproven AND excluded.unproven
    )`;
}

/**
 * The number of a subject's transactions of the last 24 hours, without those that strangers have begun for
 * it. @param limit where the count ends.
 */
export async function countRecent(db: Queries, subject: string, limit: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT 1 FROM transactions AS t
       WHERE t.subject = ${subject} AND t.created_at > accord_now() - interval '24 hours'
         AND (t.parent IS NOT NULL OR ${byStranger} IS NOT TRUE) LIMIT ${limit}) AS recent`);
  return count;
}

/**
 * Locks a transaction until the end of the database transaction: other changes wait, and so does
 * `createChild`, which takes this lock. A withdrawal made at the transaction does not wait for it.
 */
export async function lockTransaction(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`SELECT t.id FROM transactions AS t WHERE t.id = ${id} FOR NO KEY UPDATE`);
}
