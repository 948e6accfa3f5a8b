import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Commitment } from '../answer/commitment.ts';
import { insertCommitted } from '../answer/store.ts';
import { storePerson } from '../person/positions-sql.ts';
import { withdrawalNotice } from '../sent-parts/notices-store.ts';
import type { StandingPart } from '../sent-parts/part-withdrawal.ts';
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
