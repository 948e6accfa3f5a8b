import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../answer/commitment.ts';
import { storeCommittedAnswers } from '../answer/store.ts';
import { storePerson } from '../person/positions.ts';
import { withdrawalNotice } from '../sent-parts/notices-store.ts';
import type { StandingPart } from '../sent-parts/part-withdrawal.ts';
import { recordCreationAndCommit } from '../transaction/events.ts';
import type { Transaction } from '../transaction/transaction.ts';
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
      FROM transactions AS t JOIN sent_parts AS f ON f.transaction = t.id
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
