import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { NewFollower } from '../domain/part.ts';
import { type ReadTransaction, statesBefore, type Transaction } from '../domain/transaction.ts';
import { recordStateChange, tellOfParts, tellOfSuperseded } from './events.ts';
import { toReadTransaction, transactionColumns } from './transactions.ts';

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

/** Common table expressions that store peers' parts of the transaction in `t` and release them: nothing leaves before that COMMIT. */
export function storeFollowers(parts: readonly NewFollower[] = [], source: string): Statement {
  if (parts.length === 0) return empty;
  return sql`parts AS (
      INSERT INTO followers (sid, transaction, place, location, name, state, version, sealed, mode, language, shown, deadline, changed_at)
      SELECT f.sid, t.id, f.place, f.location, f.name, 'SENDING', 1, f.sealed, f.mode, f.language, f.shown, f.deadline, t.changed_at
        FROM t, jsonb_to_recordset(${JSON.stringify(parts)}::jsonb)
          AS f (sid text, place integer, location text, name text, sealed text, mode text, language text, shown jsonb, deadline timestamptz)
      RETURNING sid, location
    ), released AS (${tellOfParts('released', { from: sql`parts`, source })}
    ), `;
}
