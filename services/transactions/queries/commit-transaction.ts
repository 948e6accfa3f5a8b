import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import { recordStateChange } from './state-event.ts';
import { storeFollowers } from './store-followers.ts';
import { tellOfSuperseded } from './superseded.ts';

/**
 * Commits a transaction in one statement: state, records, receipt, peers' parts, history and outbox rows, and a child's claim on its
 * parent's context. Records that a newer one takes the place of are told as superseded.
 * @returns false if the transaction is not as it was read, or its deadline has passed: nothing is stored then.
 */
export async function commitTransaction(
  db: Queries,
  commitment: Commitment,
  source: string,
): Promise<boolean> {
  const { committedAt } = commitment;
  const row = await db.maybeOne(sql`
    WITH t AS (
      UPDATE transactions SET state = 'COMMITTED', version = version + 1, answers_digest = ${commitment.answersDigest}, changed_at = ${committedAt},
             notice_at = ${commitment.noticeAt}
       WHERE id = ${commitment.id} AND version = ${commitment.version} AND state = 'CREATED' AND expires_at > accord_now()
      RETURNING *
    ), ${recordAnswers(commitment, source)}, ${storeFollowers(commitment.followers, source)}claim AS (
      UPDATE context_claims AS c SET transaction = t.id FROM t WHERE c.transaction = t.parent
    ), ${recordStateChange('committed', source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/** Common table expressions that put answers in force for the transaction in `t`: its records, what they supersede, and its receipt. */
export function recordAnswers(commitment: Commitment, source: string): Statement {
  const { committedAt, receipt } = commitment;
  return sql`given AS (
      SELECT g.* FROM t, jsonb_to_recordset(${JSON.stringify(commitment.records)}::jsonb)
          AS g (id uuid, key text, type text, serial text, value text[], positions integer[], "expiresAt" timestamptz)
    ), superseded AS (${tellOfSuperseded({ object: sql`${commitment.object}`, committedAt, source })}
    ), stored AS (
      INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value, positions, state,
                           origin, author, comment, created_at, committed_at, expires_at)
      SELECT g.id, t.id, t.subject, ${commitment.object}, g.key, g.type, g.serial, ${commitment.infoKey}, ${commitment.infoSerial},
             g.value, g.positions, 'COMMITTED', ${commitment.origin}, ${commitment.author}, ${commitment.comment}::text,
             ${committedAt}, ${committedAt}, g."expiresAt"
        FROM given AS g CROSS JOIN t
    ), receipt AS (
      INSERT INTO receipts (transaction, body, jws) SELECT t.id, ${receipt.body}, ${receipt.jws} FROM t
    )`;
}
