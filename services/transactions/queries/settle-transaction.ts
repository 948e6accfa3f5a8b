import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { statesBefore } from '../domain/states.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { recordStateChange } from './state-event.ts';
import { tellOfParts } from './submission-events.ts';
import { tellOfSuperseded } from './superseded.ts';
import { toReadTransaction, transactionColumns } from './transaction-columns.ts';

/** A transaction whose answers wait, and the receipt that it will have. */
export interface Submitted extends ReadTransaction {
  /** The receipt's body, but for what only the commitment tells. */
  draft: string;
}

/** Undefined if it does not wait. */
export async function readSubmitted(db: Queries, id: string): Promise<Submitted | undefined> {
  const row = await db.maybeOne<Transaction & { now: Date; draft: string }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, d.body AS draft
      FROM transactions AS t JOIN receipt_drafts AS d ON d.transaction = t.id
     WHERE t.id = ${id} AND t.state = 'SUBMITTED'`);
  if (!row) return undefined;
  const { draft, ...rest } = row;
  return { ...toReadTransaction(rest), draft };
}

/** How things stand with a transaction's parts. */
export async function readHolding(
  db: Queries,
  transaction: string,
): Promise<{ all: boolean; lost: boolean }> {
  return db.one<{ all: boolean; lost: boolean }>(sql`
    SELECT coalesce(bool_and(f.state = 'HELD'), true) AS all, coalesce(bool_or(f.state IN ('REFUSED', 'DROPPED')), false) AS lost
      FROM followers AS f WHERE f.transaction = ${transaction}`);
}

/**
 * Puts submitted answers in force in one statement: state, records, receipt, history and outbox rows, a child's claim on its parent's context,
 * and the word to each peer that holds a part.
 * @returns false if it does not wait any more: nothing is stored then.
 */
export async function confirmTransaction(
  db: Queries,
  confirmed: { id: string; committedAt: Date; expiresAt: Date; receipt: { body: string; jws: string } },
  source: string,
): Promise<boolean> {
  const { id, committedAt, expiresAt, receipt } = confirmed;
  const row = await db.maybeOne(sql`
    WITH t AS (
      UPDATE transactions SET state = 'COMMITTED', version = version + 1, changed_at = ${committedAt}
       WHERE id = ${id} AND state = ANY(${statesBefore('confirm')}::text[]) AND (expires_at > accord_now() OR leader IS NOT NULL)
      RETURNING *
    ), given AS (
      SELECT r.id, r.key, r.object FROM t JOIN records AS r ON r.transaction = t.id WHERE r.state = 'PENDING'
    ), superseded AS (${tellOfSuperseded({ object: sql`g.object`, committedAt, source })}
    ), stored AS (
      UPDATE records AS r
         SET state = 'COMMITTED', committed_at = ${committedAt}, expires_at = CASE WHEN r.expires_at IS NULL THEN NULL ELSE ${expiresAt}::timestamptz END
        FROM t WHERE r.transaction = t.id AND r.state = 'PENDING'
    ), receipt AS (
      INSERT INTO receipts (transaction, body, jws) SELECT t.id, ${receipt.body}, ${receipt.jws} FROM t
    ), undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), held AS (
      SELECT f.sid, f.location FROM t JOIN followers AS f ON f.transaction = t.id WHERE f.state = 'HELD'
    ), decided AS (${tellOfParts('decided', { from: sql`held`, source, decision: 'commit' })}
    ), ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}
