import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { statesBefore } from '../domain/states.ts';
import { recordStateChange } from './state-event.ts';

/**
 * Cancels a transaction; its context's claim is free again.
 * @returns false if it is in a final state or past its deadline.
 */
export async function cancelTransaction(db: Queries, id: string, source: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    WITH t AS (
      UPDATE transactions SET state = 'CANCELLED', version = version + 1, changed_at = accord_now()
       WHERE id = ${id} AND state = ANY(${statesBefore('cancel')}::text[]) AND expires_at > accord_now()
      RETURNING *
    ), ${recordStateChange('cancelled', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/**
 * Writes TIMEOUT into open transactions past their deadline, oldest first.
 * SKIP LOCKED: several sweepers share the work, and a submit that holds the row decides first.
 * @returns how many.
 */
export async function timeOutTransactions(db: Queries, limit: number, source: string): Promise<number> {
  const rows = await db.query(sql`
    WITH t AS (
      UPDATE transactions SET state = 'TIMEOUT', version = version + 1, changed_at = accord_now()
       WHERE id IN (
               SELECT o.id FROM transactions AS o
                WHERE o.state IN ('CREATED', 'SUBMITTED') AND o.expires_at <= accord_now()
                ORDER BY o.expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING *
    ), ${recordStateChange('timedout', source)}
    SELECT t.id FROM t`);
  return rows.length;
}
