import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { partEvents } from '../sent-parts/events.ts';
import { isWithdrawn } from '../sent-parts/notices-store.ts';
import { recordStateChange } from '../transaction/events.ts';
import { statesBefore, type Transaction } from '../transaction/transaction.ts';
import { commitSeconds, maxCodes } from './code.ts';

/**
 * Cancels a transaction that the caller has locked.
 * @returns false in a final state, past the deadline, or if a peer leads it.
 */
export async function cancelLocked(db: Queries, id: string, source: string): Promise<boolean> {
  const where = sql`id = ${id} AND state = ANY(${statesBefore('cancel')}::text[])
         AND expires_at > accord_now() AND leader IS NULL`;
  return (await endTransactions(db, 'CANCELLED', where, source)).length > 0;
}

/**
 * Ends transactions past their deadline, oldest first: `stateAt` names the state that they get.
 * Transactions whose last code has expired become ROLLBACK. SKIP LOCKED: sweepers share the work, and a
 * submission that holds the row is completed first.
 * @param limit for each of four kinds: last code expired, not answered, not confirmed, not held by all
 * owners.
 * @returns how many ended, whether there may be more, and the transactions that were rolled back because not
 * all owners held their parts.
 */
export async function endOverdue(
  db: Queries,
  limit: number,
  source: string,
): Promise<{ count: number; more: boolean; rolledBack: EndedTransaction[] }> {
  const oldest = sql`o.leader IS NULL ORDER BY o.expires_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
  const ended = await endOverdueOf(db, oldest, source);
  const counts = Object.values(ended).map(({ length }) => length);
  return {
    count: counts.reduce((sum, count) => sum + count),
    more: counts.includes(limit),
    rolledBack: ended.rolledBack,
  };
}

/**
 * Ends a child that is past its deadline, or whose last code has expired, before the sweeper does, so that
 * another one can be created.
 * @returns the child if it was rolled back because not all owners held their parts.
 */
export async function closeExpiredChild(
  tx: Queries,
  parent: string,
  source: string,
): Promise<EndedTransaction[]> {
  const { rolledBack } = await endOverdueOf(tx, sql`o.parent = ${parent}`, source);
  return rolledBack;
}

async function endOverdueOf(db: Queries, which: Statement, source: string) {
  // One query for each state, so that a transaction that is submitted in parallel is not treated as CREATED.
  const overdue = (state: Statement) => sql`
    SELECT o.id FROM transactions AS o
     WHERE o.state IN ('CREATED', 'SUBMITTED') AND ${state} AND o.expires_at <= accord_now() AND ${which}`;
  const unanswered = sql`state = 'CREATED' AND id IN (${overdue(sql`o.state = 'CREATED'`)})`;
  const ofAwaiting = (ids: Statement) => sql`state = 'SUBMITTED' AND awaits_code AND id IN (${ids})`;
  const unconfirmed = ofAwaiting(overdue(sql`o.state = 'SUBMITTED' AND o.awaits_code`));
  const lastCodeExpired = sql`
    SELECT o.id FROM codes AS c JOIN transactions AS o ON o.id = c.transaction
     WHERE c.number = ${maxCodes} AND c.used_at IS NULL
       AND c.expires_at <= accord_now() - ${commitSeconds} * interval '1 second'
       AND o.state = 'SUBMITTED' AND o.awaits_code AND o.expires_at > accord_now() AND ${which}`;
  const outOfCodes = await endTransactions(db, 'ROLLBACK', ofAwaiting(lastCodeExpired), source);
  const timedOut = await endTransactions(db, 'TIMEOUT', unanswered, source);
  const notConfirmed = await endTransactions(db, 'TIMEOUT', unconfirmed, source);
  const rolledBack = await rollBack(db, overdue(sql`o.state = 'SUBMITTED' AND NOT o.awaits_code`), source);
  return { outOfCodes, timedOut, notConfirmed, rolledBack };
}

/** Rolls submitted transactions back. @param ids a query for ids. @returns those that became ROLLBACK. */
export function rollBack(db: Queries, ids: Statement, source: string): Promise<EndedTransaction[]> {
  const where = sql`state = ANY(${statesBefore('roll-back')}::text[]) AND id IN (${ids})`;
  return endTransactions(db, 'ROLLBACK', where, source);
}

/** Rolls answers back that no code can confirm. @returns whether the transaction still awaited a code. */
export async function rollBackUnconfirmed(db: Queries, id: string, source: string): Promise<boolean> {
  const where = sql`id = ${id} AND state = 'SUBMITTED' AND awaits_code`;
  return (await endTransactions(db, 'ROLLBACK', where, source)).length > 0;
}

const eventNames = { CANCELLED: 'cancelled', TIMEOUT: 'timedout', ROLLBACK: 'rolledback' } as const;

/** A transaction that has just ended. */
export interface EndedTransaction
  extends Pick<Transaction, 'id' | 'context' | 'createdBy' | 'isAddressKnown'> {
  /** Whether a part of it was withdrawn. */
  isWithdrawn: boolean;
}

/** Moves matching transactions to a final state and undoes their submissions. @returns the transactions. */
export function endTransactions(
  db: Queries,
  state: keyof typeof eventNames,
  where: Statement,
  source: string,
): Promise<EndedTransaction[]> {
  return db.query<EndedTransaction>(sql`
    WITH t AS (
      UPDATE transactions SET state = ${state}, version = version + 1, changed_at = accord_now()
       WHERE ${where}
      RETURNING *
    ), ${undoSubmission(source)}${recordStateChange(eventNames[state], source)}
    SELECT t.id, t.context, t.created_by AS "createdBy", t.is_address_known AS "isAddressKnown",
           EXISTS (SELECT FROM sent_parts AS f
                    WHERE f.transaction = t.id AND ${isWithdrawn}) AS "isWithdrawn"
      FROM t`);
}

/** Common table expressions that undo submissions in `t`: records, receipt drafts, codes and parts. */
function undoSubmission(source: string): Statement {
  return sql`undone AS (
      UPDATE records AS r SET state = 'ROLLED_BACK' FROM t WHERE r.transaction = t.id AND r.state = 'PENDING'
    ), undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), uncoded AS (
      DELETE FROM codes AS c USING t WHERE c.transaction = t.id AND c.used_at IS NULL
    ), dropped AS (
      UPDATE sent_parts AS f
         SET state = 'DROPPED', version = f.version + 1, sealed = NULL, changed_at = t.changed_at
        FROM t WHERE f.transaction = t.id AND f.state IN ('SENDING', 'HELD')
      RETURNING f.sid, f.location
    ), withheld AS (
      -- These parts were never sent, so their owners get no decision.
      UPDATE sent_parts AS f
         SET state = 'DROPPED', version = f.version + 1, sealed = NULL, changed_at = t.changed_at,
             reason = CASE WHEN ${isWithdrawn} THEN 'withdrawn' ELSE 'unsent' END
        FROM t WHERE f.transaction = t.id AND f.state = 'WAITING'
    ), decided AS (${partEvents('decided', { from: sql`dropped`, source, decision: 'rollback' })}
    ), `;
}
