import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { statesBefore } from '../domain/transaction.ts';
import { partEvents, recordStateChange } from './events.ts';

/** Locks a transaction until the end of the database transaction; changes and new children wait. */
export async function lockTransaction(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`SELECT t.id FROM transactions AS t WHERE t.id = ${id} FOR UPDATE`);
}

/**
 * Cancels a transaction that the caller has locked.
 * @returns false in a final state, past the deadline, or if a peer leads it.
 */
export async function cancelLocked(db: Queries, id: string, source: string): Promise<boolean> {
  const where = sql`id = ${id} AND state = ANY(${statesBefore('cancel')}::text[])
         AND expires_at > accord_now() AND leader IS NULL`;
  return (await endTransactions(db, 'CANCELLED', where, source)) > 0;
}

/**
 * Ends transactions past their deadline, oldest first: CREATED becomes TIMEOUT, SUBMITTED becomes ROLLBACK.
 * SKIP LOCKED: sweepers share the work, and a submission that holds the row is completed first.
 * @param limit for each of the two states. @returns how many ended, and whether there may be more.
 */
export async function endOverdue(
  db: Queries,
  limit: number,
  source: string,
): Promise<{ count: number; more: boolean }> {
  const oldest = sql`o.leader IS NULL ORDER BY o.expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  const { timedOut, rolledBack } = await endOverdueOf(db, oldest, source);
  return { count: timedOut + rolledBack, more: timedOut === limit || rolledBack === limit };
}

/** Ends a child past its deadline that the sweeper has not reached, so that another one can be created. */
export async function closeExpiredChild(tx: Queries, parent: string, source: string): Promise<void> {
  await endOverdueOf(tx, sql`o.parent = ${parent}`, source);
}

async function endOverdueOf(db: Queries, which: Statement, source: string) {
  // One query for each state, so that a transaction that is submitted in parallel is not treated as CREATED.
  const overdue = (state: string) => sql`
    SELECT o.id FROM transactions AS o
     WHERE o.state IN ('CREATED', 'SUBMITTED') AND o.state = ${state} AND o.expires_at <= accord_now()
       AND ${which}`;
  const timedOut = await endTransactions(
    db,
    'TIMEOUT',
    sql`state = 'CREATED' AND id IN (${overdue('CREATED')})`,
    source,
  );
  return { timedOut, rolledBack: await rollBack(db, overdue('SUBMITTED'), source) };
}

/** Rolls back submitted transactions. @param ids a query of their ids. @returns how many became ROLLBACK. */
export async function rollBack(db: Queries, ids: Statement, source: string): Promise<number> {
  const where = sql`state = ANY(${statesBefore('roll-back')}::text[]) AND id IN (${ids})`;
  return endTransactions(db, 'ROLLBACK', where, source);
}

const eventNames = { CANCELLED: 'cancelled', TIMEOUT: 'timedout', ROLLBACK: 'rolledback' } as const;

/** Moves the transactions that match to a final state, and undoes their submissions. @returns how many. */
async function endTransactions(
  db: Queries,
  state: keyof typeof eventNames,
  where: Statement,
  source: string,
): Promise<number> {
  const rows = await db.query(sql`
    WITH t AS (
      UPDATE transactions SET state = ${state}, version = version + 1, changed_at = accord_now()
       WHERE ${where}
      RETURNING *
    ), ${state === 'TIMEOUT' ? empty : undoSubmission(source)}${recordStateChange(eventNames[state], source)}
    SELECT t.id FROM t`);
  return rows.length;
}

/** Common table expressions that undo submissions in `t`: records, receipt drafts and parts. */
function undoSubmission(source: string): Statement {
  return sql`undone AS (
      UPDATE records AS r SET state = 'ROLLED_BACK' FROM t WHERE r.transaction = t.id AND r.state = 'PENDING'
    ), undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), dropped AS (
      UPDATE followers AS f
         SET state = 'DROPPED', version = f.version + 1, sealed = NULL, changed_at = t.changed_at
        FROM t WHERE f.transaction = t.id AND f.state IN ('SENDING', 'HELD')
      RETURNING f.sid, f.location
    ), decided AS (${partEvents('decided', { from: sql`dropped`, source, decision: 'rollback' })}
    ), `;
}
