import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/request-extension.ts';
import type { Commitment } from '../domain/commitment.ts';
import { recordStateChange } from './state-event.ts';

/**
 * Commits a transaction in one statement: state, records, receipt, history and outbox rows, and a child's claim on its
 * parent's context. Records that a newer one takes the place of are told as superseded.
 * @returns false if the transaction is not as it was read, or its deadline has passed: nothing is stored then.
 */
export async function commitTransaction(
  db: Queries,
  commitment: Commitment,
  source: string,
): Promise<boolean> {
  const { committedAt, receipt } = commitment;
  const row = await db.maybeOne(sql`
    WITH t AS (
      UPDATE transactions SET state = 'COMMITTED', version = version + 1, answers_digest = ${commitment.answersDigest}, changed_at = ${committedAt}
       WHERE id = ${commitment.id} AND version = ${commitment.version} AND state = 'CREATED' AND expires_at > accord_now()
      RETURNING *
    ), given AS (
      SELECT g.* FROM t, jsonb_to_recordset(${JSON.stringify(commitment.records)}::jsonb)
          AS g (id uuid, key text, type text, serial text, value text[], positions integer[], "expiresAt" timestamptz)
    ), superseded AS (
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT s.event_id, 'accord.consents', s.transaction,
             jsonb_build_object('id', s.event_id, 'type', 'io.accord.record.superseded.v1', 'source', ${source}::text, 'subject', s.id,
               'time', to_json(${committedAt}::timestamptz), 'data', jsonb_build_object('record', s.id, 'transaction', s.transaction, 'by', s.by)) || ${requestExtension()}::jsonb
        -- Volatile in the output list: drawn once for each row, which a join with a row of its own is not.
        FROM (SELECT gen_random_uuid() AS event_id, old.id, old.transaction, g.id AS by
                FROM given AS g CROSS JOIN t CROSS JOIN LATERAL (
                  SELECT r.id, r.transaction FROM records AS r
                   WHERE r.state = 'COMMITTED' AND r.subject = t.subject AND r.object = ${commitment.object} AND r.key = g.key
                   ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS old) AS s
    ), stored AS (
      INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value, positions, state,
                           origin, author, comment, created_at, committed_at, expires_at)
      SELECT g.id, t.id, t.subject, ${commitment.object}, g.key, g.type, g.serial, ${commitment.infoKey}, ${commitment.infoSerial},
             g.value, g.positions, 'COMMITTED', ${commitment.origin}, ${commitment.author}, ${commitment.comment}::text,
             ${committedAt}, ${committedAt}, g."expiresAt"
        FROM given AS g CROSS JOIN t
    ), receipt AS (
      INSERT INTO receipts (transaction, body, jws) SELECT t.id, ${receipt.body}, ${receipt.jws} FROM t
    ), claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}
