import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { type ReadTransaction, statesBefore, type Transaction } from '../domain/transaction.ts';
import { recordStateChange, tellOfParts } from './events.ts';
import { toReadTransaction, transactionColumns } from './transactions.ts';

/**
 * Cancels a transaction that the caller has locked; its context's claim is free again.
 * @returns false if it is in a final state or past its deadline, or if a peer decides over it.
 */
export async function cancelTransaction(db: Queries, id: string, source: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    WITH t AS (
      UPDATE transactions SET state = 'CANCELLED', version = version + 1, changed_at = accord_now()
       WHERE id = ${id} AND state = ANY(${statesBefore('cancel')}::text[]) AND expires_at > accord_now() AND leader IS NULL
      RETURNING *
    ), ${undoSubmission(source)}, ${recordStateChange('cancelled', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/**
 * Writes into open transactions past their deadline what they are from then on: TIMEOUT, or ROLLBACK of what was submitted. Oldest first.
 * SKIP LOCKED: several sweepers share the work, and a submit that holds the row decides first.
 * @returns how many of either kind, and whether there may be more.
 */
export async function endOverdue(
  db: Queries,
  limit: number,
  source: string,
): Promise<{ count: number; more: boolean }> {
  const overdue = (state: string) => sql`
               SELECT o.id FROM transactions AS o
                WHERE o.state IN ('CREATED', 'SUBMITTED') AND o.state = ${state} AND o.expires_at <= accord_now() AND o.leader IS NULL
                ORDER BY o.expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  const timedOut = await timeOut(db, overdue('CREATED'), source);
  const rolledBack = await rollBack(db, overdue('SUBMITTED'), source);
  return { count: timedOut + rolledBack, more: timedOut === limit || rolledBack === limit };
}

/** Writes TIMEOUT into transactions of the ids that a query gives, which nobody has answered. @returns how many. */
export async function timeOut(db: Queries, ids: Statement, source: string): Promise<number> {
  const rows = await db.query(sql`
    WITH t AS (
      UPDATE transactions SET state = 'TIMEOUT', version = version + 1, changed_at = accord_now()
       WHERE state = 'CREATED' AND id IN (${ids})
      RETURNING *
    ), ${recordStateChange('timedout', source)}
    SELECT t.id FROM t`);
  return rows.length;
}

/** Writes ROLLBACK into transactions of the ids that a query gives, and undoes what they had submitted. @returns how many. */
export async function rollBack(db: Queries, ids: Statement, source: string): Promise<number> {
  const rows = await db.query(sql`
    WITH t AS (
      UPDATE transactions SET state = 'ROLLBACK', version = version + 1, changed_at = accord_now()
       WHERE state = ANY(${statesBefore('roll-back')}::text[]) AND id IN (${ids})
      RETURNING *
    ), ${undoSubmission(source)}, ${recordStateChange('rolledback', source)}
    SELECT t.id FROM t`);
  return rows.length;
}

/**
 * Common table expressions that undo what the transactions in `t` had submitted: records never come into force, sealed parts are deleted,
 * and the owners of those that were sent are told.
 */
export function undoSubmission(source: string): Statement {
  return sql`undone AS (
      UPDATE records AS r SET state = 'ROLLED_BACK' FROM t WHERE r.transaction = t.id AND r.state = 'PENDING'
    ), undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), dropped AS (
      UPDATE followers AS f SET state = 'DROPPED', version = f.version + 1, sealed = NULL, changed_at = t.changed_at
        FROM t, followers AS was
       WHERE f.transaction = t.id AND was.sid = f.sid AND f.state IN ('WAITING', 'SENDING', 'HELD')
      RETURNING f.sid, f.location, was.state <> 'WAITING' AS sent
    ), decided AS (${tellOfParts('decided', { from: sql`(SELECT d.sid, d.location FROM dropped AS d WHERE d.sent)`, source, decision: 'rollback' })}
    )`;
}

/** Waits for whoever changes the transaction or makes a child of it, until the end of the database transaction. */
export async function lockTransaction(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`SELECT t.id FROM transactions AS t WHERE t.id = ${id} FOR UPDATE`);
}

/** The open child of a transaction that is not past its deadline. */
export async function readOpenChild(db: Queries, parent: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Transaction & { now: Date }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now FROM transactions AS t
     WHERE t.parent = ${parent} AND t.state IN ('CREATED', 'SUBMITTED') AND t.expires_at > accord_now()`);
  return row && toReadTransaction(row);
}

/** Ends a child past its deadline that the sweeper has not reached, so that another one can be made. */
export async function closeExpiredChild(tx: Queries, parent: string, source: string): Promise<void> {
  // By state: one that is being submitted at this moment is not rolled back without its parts.
  const overdue = (state: string) => sql`
    SELECT o.id FROM transactions AS o
     WHERE o.parent = ${parent} AND o.state IN ('CREATED', 'SUBMITTED') AND o.state = ${state} AND o.expires_at <= accord_now()`;
  await timeOut(tx, overdue('CREATED'), source);
  await rollBack(tx, overdue('SUBMITTED'), source);
}
