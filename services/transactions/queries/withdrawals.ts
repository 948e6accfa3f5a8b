import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import type { ShownStanding, StandingAnswer } from '../domain/withdrawal.ts';
import { storeCommittedAnswers } from './commit-transaction.ts';
import { recordCreationAndCommit } from './events.ts';
import { storeSubject, toReadTransaction, transactionColumns } from './transactions.ts';

/**
 * Waits for all submissions of a subject that are being stored, and makes later ones wait for the end of the
 * database transaction (docs/withdrawal.md, "The rule"). The shared lock: `subjectLockShared`.
 */
export async function lockSubject(tx: Queries, subject: string): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('subject'), hashtext(${subject}))`);
}

/** Columns of {@link StandingAnswer} of a record `r` and its transaction `t`. */
const standingColumns = sql`
  r.id, r.transaction, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
  r.value, r.withdraws, r.committed_at AS "committedAt", t.kind`;

/** The newest committed answer to each question about an object, and the database's clock. */
export function readStanding(
  db: Queries,
  { subject, object, keys }: { subject: string; object: string; keys: readonly string[] },
): Promise<Standing> {
  return readNewest(
    db,
    sql`
      SELECT newest.* FROM unnest(${keys}::text[]) AS element (key)
       CROSS JOIN LATERAL (
         SELECT ${standingColumns} FROM records AS r JOIN transactions AS t ON t.id = r.transaction
          WHERE r.state = 'COMMITTED' AND r.subject = ${subject} AND r.object = ${object}
            AND r.key = element.key
          ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS newest`,
  );
}

/** A transaction with its result, as its pages show it. */
export interface TransactionResult extends ReadTransaction {
  /** The body of the receipt; null before the commit. */
  receipt: string | null;
  /** The newest answers to its questions; none before the commit. */
  standing: ShownStanding[];
}

export async function readResult(db: Queries, id: string): Promise<TransactionResult | undefined> {
  const row = await db.maybeOne<
    Transaction & { now: Date; receipt: string | null; standing: Stored<ShownStanding>[] | null }
  >(sql`
    SELECT ${transactionColumns}, accord_now() AS now, b.body AS receipt, s.standing
      FROM transactions AS t LEFT JOIN receipts AS b ON b.transaction = t.id
      LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object(
                 'transaction', a.transaction, 'key', element.key, 'type', a.type, 'value', a.value,
                 'withdraws', a.withdraws, 'committedAt', a.committed_at)) AS standing
          FROM jsonb_array_elements_text(t.layout->'elements') AS element (key) CROSS JOIN LATERAL (
            SELECT r.* FROM records AS r
             WHERE r.state = 'COMMITTED' AND r.subject = t.subject
               AND r.object = coalesce(t.context->>'object', '') AND r.key = element.key
             ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS a
         WHERE b.transaction IS NOT NULL) AS s ON true
     WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { receipt, standing, ...rest } = row;
  return { ...toReadTransaction(rest), receipt, standing: (standing ?? []).map(fromStored) };
}

/** The newest committed answer of a person to every question about every object, and the database's clock. */
export function readAllStanding(db: Queries, subject: string): Promise<Standing> {
  return readNewest(
    db,
    sql`
      SELECT DISTINCT ON (r.object, r.key) ${standingColumns}
        FROM records AS r JOIN transactions AS t ON t.id = r.transaction
       WHERE r.state = 'COMMITTED' AND r.subject = ${subject}
       ORDER BY r.object, r.key, r.committed_at DESC, r.id DESC`,
  );
}

interface Standing {
  clock: Date;
  standing: StandingAnswer[];
}

async function readNewest(db: Queries, answers: Statement): Promise<Standing> {
  const { clock, standing } = await db.one<{ clock: Date; standing: Stored<StandingAnswer>[] }>(sql`
    SELECT clock_timestamp() + (accord_now() - now()) AS clock,
           (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.object, a.key), '[]'::jsonb)
              FROM (${answers}) AS a) AS standing`);
  return {
    clock,
    standing: standing.map(fromStored),
  };
}

type Stored<T> = Omit<T, 'committedAt'> & { committedAt: string };

function fromStored<T extends { committedAt: string }>(
  answer: T,
): Omit<T, 'committedAt'> & { committedAt: Date } {
  return { ...answer, committedAt: new Date(answer.committedAt) };
}

/** Bodies of receipts, or of their drafts before the commit, by transaction. */
export async function readReceiptBodies(
  db: Queries,
  transactions: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ transaction: string; body: string }>(sql`
    SELECT r.transaction, r.body FROM receipts AS r WHERE r.transaction = ANY(${transactions}::text[])
    UNION ALL
    SELECT d.transaction, d.body FROM receipt_drafts AS d WHERE d.transaction = ANY(${transactions}::text[])`);
  return new Map(rows.map(({ transaction, body }) => [transaction, body]));
}

/** Stores a withdrawal: a transaction that is created and committed at once. */
export async function insertWithdrawal(
  tx: Queries,
  created: Transaction,
  commitment: Commitment,
  source: string,
): Promise<void> {
  await tx.one(sql`
    WITH ${insertCommitted(created, commitment, source)}
    SELECT t.id FROM t`);
}

/**
 * Common table expressions that store a transaction as if it had been created and then committed: with its
 * records, receipt, history and events.
 * @param from SQL: `FROM` and a relation of one row, or of none to store nothing.
 */
export function insertCommitted(
  { id, subject, context, layout, author, parent, leader, kind, createdAt, expiresAt }: Transaction,
  commitment: Commitment,
  source: string,
  from: Statement = empty,
): Statement {
  return sql`t AS (
      INSERT INTO transactions (id, subject, state, version, context, layout, kind, author, parent, leader,
                                answers_digest, created_at, changed_at, expires_at, notice_at)
      SELECT ${id}, ${subject}, 'COMMITTED', ${commitment.version + 1}::int,
             ${JSON.stringify(context)}::jsonb, ${JSON.stringify(layout)}::jsonb, ${kind}::text, ${author},
             ${parent}::text, ${leader}::jsonb, ${commitment.answersDigest}::bytea,
             ${createdAt}::timestamptz, ${commitment.submittedAt}::timestamptz, ${expiresAt}::timestamptz,
             ${commitment.noticeAt}::timestamptz
        ${from}
      RETURNING *
    ), ${storeSubject()}, ${storeCommittedAnswers(commitment, source)},
    ${recordCreationAndCommit(source)}`;
}
