import type { Queries } from '#lib/db/database.ts';
import { empty, sql } from '#lib/db/sql.ts';
import { nextPosition } from '../person/positions-sql.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import { partEvents } from '../sent-parts/events.ts';
import { recordStateChange } from '../transaction/events.ts';
import { statesBefore } from '../transaction/transaction.ts';
import { useCode } from './codes-store.ts';
import type { CommittedRecord } from './commitment.ts';
import { endReplaced, storeReceipt, tellWithdrawn } from './store.ts';
import { releaseWaitingParts } from './waiting-parts-store.ts';

/**
 * Commits submitted answers in one statement: state, records, receipt, history and outbox rows. The caller
 * has locked the person. A child takes over its parent's claim on the context. Parts that waited for a code
 * are released, unless they were withdrawn; for each part that its owner holds, the decision `commit` is
 * released.
 * @param submitted.records what each waiting record does to others.
 * @param submitted.deadline of the parts that are released.
 * @param submitted.code number of the code that confirms the answers; marked as used.
 * @returns false if the transaction is no longer SUBMITTED, its deadline has passed (that of a transaction
 * with a leader has no effect), or the code was replaced or used. Then nothing is changed, except that the
 * code may have been marked as used.
 */
export async function commitSubmittedTransaction(
  db: Queries,
  submitted: {
    id: string;
    subject: string;
    committedAt: Date;
    validUntil: Date | null;
    deadline: Date;
    records: readonly Pick<CommittedRecord, 'id' | 'expiresAt' | 'isInForce' | 'ends' | 'withdraws'>[];
    receipt: SignedReceipt;
    code?: number | undefined;
  },
  source: string,
): Promise<boolean> {
  const { id, subject, committedAt, validUntil, deadline, records, receipt, code } = submitted;
  const isUsed = code === undefined ? empty : sql`AND EXISTS (SELECT FROM used)`;
  const row = await db.maybeOne(sql`
    WITH ${nextPosition(sql`${subject}`, null, true)}, ${code === undefined ? empty : sql`used AS (${useCode(id, code)}), `}t AS (
      UPDATE transactions AS x
         SET state = 'COMMITTED', version = x.version + 1, changed_at = ${committedAt}, valid_until = ${validUntil},
             awaits_code = false
        FROM person
       WHERE x.id = ${id} AND x.state = ANY(${statesBefore('commit-submitted')}::text[])
         AND (x.expires_at > accord_now() OR x.leader IS NOT NULL) ${isUsed}
      RETURNING x.*
    ), given AS (
      SELECT g.* FROM t, jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
          AS g (id uuid, "expiresAt" timestamptz, "isInForce" boolean, ends uuid, withdraws uuid)
    ), ${endReplaced(records, committedAt, source)}, stored AS (
      UPDATE records AS r
         SET state = 'COMMITTED', committed_at = ${committedAt}, withdraws = g.withdraws,
             expires_at = g."expiresAt",
             from_position = CASE WHEN g."isInForce" THEN p.position END,
             from_at = CASE WHEN g."isInForce" THEN ${committedAt}::timestamptz END
        FROM given AS g CROSS JOIN person AS p CROSS JOIN (SELECT count(*) FROM ended) AS e (count)
       WHERE r.id = g.id AND r.transaction = ${id}
      RETURNING r.id, r.key, r.withdraws
    ), ${tellWithdrawn(records, committedAt, source)}${storeReceipt(receipt)}, undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), held AS (
      SELECT f.sid, f.location FROM t JOIN sent_parts AS f ON f.transaction = t.id WHERE f.state = 'HELD'
    ), decided AS (${partEvents('decided', { from: sql`held`, source, decision: 'commit' })}
    ), ${releaseWaitingParts(deadline, source)}, ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}
