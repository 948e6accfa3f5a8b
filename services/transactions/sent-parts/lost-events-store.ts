import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { partEvents, verdictEvents } from './events.ts';

export const since = (hours: number) => sql`accord_now() - ${hours} * interval '1 hour'`;

// Statements pass the rows of a batch as an array. If a list is joined instead, PostgreSQL expects many rows
// of the table to match, and reads the whole table (docs/adr/0014-plans-for-tables-that-grow.md).

/** Hours without an answer after which the events of a part are published again. */
const unansweredHours = 72;

/**
 * Publishes the events of parts again every 72 hours while their owners have not answered, in
 * case an event or the report of the verdict was lost: `released` of a part that is being sent, and the
 * decision `commit` about a part that its owner holds. A delivery that is still queued is not queued twice.
 * An owner that has answered repeats its verdict. @returns how many, at most `limit`.
 */
export async function repeatPartEvents(tx: Queries, limit: number, source: string): Promise<number> {
  const sending = sql`(SELECT * FROM changed AS c WHERE c.state = 'SENDING')`;
  const held = sql`(
    SELECT c.* FROM changed AS c JOIN transactions AS t ON t.id = c.transaction
     WHERE c.state = 'HELD' AND t.state = 'COMMITTED')`;
  const repeated = await tx.query(sql`
    WITH due AS MATERIALIZED (
      SELECT f.sid FROM sent_parts AS f
       WHERE f.state IN ('SENDING', 'HELD')
         AND coalesce(f.resent_at, f.changed_at) <= ${since(unansweredHours)}
       ORDER BY coalesce(f.resent_at, f.changed_at) LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), changed AS (
      UPDATE sent_parts AS f SET resent_at = accord_now() WHERE f.sid = ANY(ARRAY(SELECT d.sid FROM due AS d))
      RETURNING f.*
    ), released AS (${partEvents('released', { from: sending, source })}
    ), decided AS (${partEvents('decided', { from: held, source, decision: 'commit' })}
    )
    SELECT FROM changed`);
  return repeated.length;
}

/** How many hours after its deadline a part is ended if the service `peers` has reported no verdict on it. */
const unreportedHours = 24;

/** A part that ended without a report, and its transaction. */
export interface UnreportedPart {
  sid: string;
  location: string;
  transaction: Pick<Transaction, 'id' | 'context' | 'createdBy' | 'isAddressKnown'>;
}

/**
 * Ends parts of committed transactions a day after their deadline, as the verdict `expired` does
 * (sent-parts/part.ts). Parts with mode `hold` end with their transaction. SKIP LOCKED: a process that has
 * locked a transaction may wait for its parts.
 * @returns the ended parts, at most `limit`.
 */
export function dropUnreported(tx: Queries, limit: number, source: string): Promise<UnreportedPart[]> {
  return tx.query<UnreportedPart>(sql`
    WITH due AS MATERIALIZED (
      SELECT f.sid FROM sent_parts AS f JOIN transactions AS t ON t.id = f.transaction
       WHERE f.state = 'SENDING' AND f.resent_at IS NOT NULL AND f.deadline <= ${since(unreportedHours)}
         AND t.state = 'COMMITTED'
       ORDER BY f.deadline LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), f AS (
      UPDATE sent_parts AS f
         SET state = 'DROPPED', version = f.version + 1, reason = 'expired', sealed = NULL,
             changed_at = accord_now()
       WHERE f.sid = ANY(ARRAY(SELECT d.sid FROM due AS d))
      RETURNING f.*
    ), told AS (${verdictEvents({ type: sql`'io.accord.peer.submission.refused.v1'::text` }, source)}
    )
    SELECT f.sid, f.location, jsonb_build_object('id', t.id, 'context', t.context, 'createdBy', t.created_by,
                                              'isAddressKnown', t.is_address_known) AS transaction
      FROM f JOIN transactions AS t ON t.id = f.transaction`);
}
