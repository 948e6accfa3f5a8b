import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { statesBefore } from '../domain/states.ts';
import { recordStateChange } from './state-event.ts';
import { undoSubmission } from './undo-submission.ts';

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
