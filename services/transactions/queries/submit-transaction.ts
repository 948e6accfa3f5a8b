import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import { recordStateChange } from './state-event.ts';
import { storeFollowers } from './store-followers.ts';

/** What waits for peers: there is no receipt before they all hold. */
export type PendingCommitment = Omit<Commitment, 'receipt'> & {
  /** Until when they must. */
  deadline: Date;
  /** The receipt's body, but for what only the commitment tells. */
  draft: string;
};

/**
 * Stores a transaction's answers in one statement, not yet in force: state, PENDING records, the receipt's draft, peers' parts, history and
 * outbox rows. Its deadline is from now on the peers'.
 * @returns false if the transaction is not as it was read, or its deadline has passed: nothing is stored then.
 */
export async function submitTransaction(
  db: Queries,
  commitment: PendingCommitment,
  source: string,
): Promise<boolean> {
  const { committedAt: submittedAt } = commitment;
  const row = await db.maybeOne(sql`
    WITH t AS (
      UPDATE transactions SET state = 'SUBMITTED', version = version + 1, answers_digest = ${commitment.answersDigest}, changed_at = ${submittedAt},
             expires_at = ${commitment.deadline}
       WHERE id = ${commitment.id} AND version = ${commitment.version} AND state = 'CREATED' AND expires_at > accord_now()
      RETURNING *
    ), stored AS (
      INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value, positions, state,
                           origin, author, comment, created_at, expires_at)
      SELECT g.id, t.id, t.subject, ${commitment.object}, g.key, g.type, g.serial, ${commitment.infoKey}, ${commitment.infoSerial},
             g.value, g.positions, 'PENDING', ${commitment.origin}, ${commitment.author}, ${commitment.comment}::text,
             ${submittedAt}, g."expiresAt"
        FROM t, jsonb_to_recordset(${JSON.stringify(commitment.records)}::jsonb)
          AS g (id uuid, key text, type text, serial text, value text[], positions integer[], "expiresAt" timestamptz)
    ), draft AS (
      INSERT INTO receipt_drafts (transaction, body) SELECT t.id, ${commitment.draft} FROM t
    ), ${storeFollowers(commitment.followers, source)}${recordStateChange('submitted', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}
