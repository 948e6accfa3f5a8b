import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { StandingPart } from '../domain/part-withdrawal.ts';
import type { StandingAnswer } from '../domain/standing-answer.ts';
import type { Transaction } from '../domain/transaction.ts';
import { storeCommittedAnswers } from './commit-transaction.ts';
import { recordCreationAndCommit } from './events.ts';
import { withdrawalNotice } from './notices.ts';
import { clock, isInForce, storePerson } from './positions.ts';

/** Columns of {@link StandingAnswer} of a record `r` and its transaction `t`. */
export const answerColumns = sql`
  r.id, r.transaction, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
  r.value, r.positions, r.source, r.position, r.created_at AS "givenAt", r.committed_at AS "committedAt",
  CASE WHEN t.leader IS NULL THEN r.created_at ELSE t.created_at END AS "receivedAt", t.kind, t.parent`;

/** Which questions to read; without `keys`, all that the person has answered. */
export interface Asked {
  subject: string;
  object?: string;
  keys?: readonly string[];
}

/** The answers in force, in the order of their objects and questions. */
export function readInForce(db: Queries, asked: Asked): Promise<StandingAnswer[]> {
  return db.query<StandingAnswer>(sql`
    SELECT ${answerColumns} FROM records AS r JOIN transactions AS t ON t.id = r.transaction
     WHERE ${about(asked)} AND ${isInForce} ORDER BY ${order(asked)}`);
}

/**
 * The consents that wait for a code, for peers or for their leader's decision, the newest first. Those whose
 * deadline has passed are left out.
 */
export function readWaitingConsents(db: Queries, asked: Asked): Promise<StandingAnswer[]> {
  return db.query<StandingAnswer>(sql`
    SELECT ${answerColumns} FROM transactions AS t JOIN records AS r ON r.transaction = t.id
     WHERE t.subject = ${asked.subject} AND t.state = 'SUBMITTED'
       AND (t.expires_at > accord_now() OR t.leader IS NOT NULL)
       AND r.state = 'PENDING' AND r.type <> 'preference' AND r.value = '{accepted}' AND ${about(asked)}
     ORDER BY ${order(asked)}, r.position DESC`);
}

function about({ subject, object, keys }: Asked): Statement {
  return sql`r.subject = ${subject} ${object === undefined ? empty : sql`AND r.object = ${object}`}
       ${keys ? sql`AND r.key = ANY(${keys}::text[])` : empty}`;
}

/** Questions are ordered as they are asked for. */
function order({ keys }: Asked): Statement {
  return keys ? sql`array_position(${keys}::text[], r.key)` : sql`r.object, r.key`;
}

/** The database's time at this moment. */
export async function readClock(db: Queries): Promise<Date> {
  return (await db.one<{ now: Date }>(sql`SELECT ${clock} AS now`)).now;
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
    WITH ${storePerson(created, null)}, ${insertCommitted(created, commitment, source)}
    SELECT t.id FROM t`);
}

/**
 * Parts of a committed transaction, or of all transactions of a subject whose answers are in force or may
 * come into force: newest transaction first, and within a transaction in the order of the form.
 */
export function readStandingParts(
  db: Queries,
  of: { transaction: string } | { subject: string },
): Promise<StandingPart[]> {
  const which =
    'subject' in of
      ? sql`t.subject = ${of.subject} AND t.state IN ('COMMITTED', 'SUBMITTED')`
      : sql`t.id = ${of.transaction} AND t.state = 'COMMITTED'`;
  return db.query(sql`
    SELECT f.sid, f.location, f.name, f.state, f.reason, f.shown, f.transaction, w.id AS withdrawal,
           coalesce(t.context->>'object', '') AS object, w.changed_at AS "withdrawnAt",
           w.parent AS "withdrawalParent"
      FROM transactions AS t JOIN followers AS f ON f.transaction = t.id
      LEFT JOIN ${withdrawalNotice} LEFT JOIN transactions AS w ON w.id = n.withdrawal
     WHERE ${which}
     ORDER BY t.created_at DESC, t.id, f.place`);
}

/**
 * Common table expressions that store a transaction as if it had been created and then committed: with its
 * records, receipt, history and events. They need the `person` of `storePerson`. @param from SQL: a join that
 * has no row if nothing is to be stored.
 */
export function insertCommitted(
  {
    id,
    subject,
    context,
    layout,
    author,
    parent,
    leader,
    kind,
    createdAt,
    expiresAt,
    ...created
  }: Transaction,
  commitment: Commitment,
  source: string,
  from: Statement = empty,
): Statement {
  return sql`t AS (
      INSERT INTO transactions (id, subject, state, version, context, layout, kind, author, created_by,
                                is_address_known, parent, leader, answers_digest, created_at, changed_at, expires_at, notice_at, valid_until)
      SELECT ${id}, ${subject}, 'COMMITTED', ${commitment.version + 1}::int,
             ${JSON.stringify(context)}::jsonb, ${JSON.stringify(layout)}::jsonb, ${kind}::text, ${author},
             ${created.createdBy}::text, ${created.isAddressKnown}::boolean, ${parent}::text, ${leader}::jsonb, ${commitment.answersDigest}::bytea,
             ${createdAt}::timestamptz, ${commitment.submittedAt}::timestamptz, ${expiresAt}::timestamptz,
             ${commitment.noticeAt}::timestamptz, ${commitment.validUntil}::timestamptz
        FROM person ${from}
      RETURNING *
    ), ${storeCommittedAnswers(commitment, source)},
    ${recordCreationAndCommit(source)}`;
}
