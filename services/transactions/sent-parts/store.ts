import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { isWithdrawn, withdrawalNotice } from './notices-store.ts';
import type { Part } from './part.ts';

/** Parts by transaction, in the order of the form. Transactions that cannot have parts are not looked up. */
export async function readParts(
  db: Queries,
  transactions: readonly Pick<Transaction, 'id' | 'layout' | 'state'>[],
): Promise<Map<string, Part[]>> {
  const answered = transactions.filter(
    ({ layout, state }) => state !== 'CREATED' && layout.elements.some((key) => key.includes('@')),
  );
  if (answered.length === 0) return new Map();
  const rows = await db.query<Part & { transaction: string }>(sql`
    SELECT f.transaction, f.sid, f.location, f.name, f.state, f.reason, f.remote_id AS "remoteId", f.mode,
           f.shown, f.changed_at AS "changedAt",
           CASE WHEN n.state IS NOT NULL THEN jsonb_build_object('state', n.state, 'since', n.since) END AS withdrawal
      FROM sent_parts AS f LEFT JOIN ${withdrawalNotice}
     WHERE f.transaction = ANY(${answered.map(({ id }) => id)}::text[])
     ORDER BY f.transaction, f.place`);
  return Map.groupBy(rows, ({ transaction }) => transaction);
}

/** A part that is to be sent, with the facts of its transaction. */
export interface ReleasedRow {
  location: string;
  transaction: string;
  subject: string;
  object: string | null;
  /** Null: the context has none. */
  validity: string | null;
  language: string;
  mode: Part['mode'];
  sealed: string;
}

/**
 * Parts by sid: the first one, and more as long as their sealed content fits into `maxBytes`.
 * @returns null instead of a part that is unknown or not SENDING any more.
 */
export async function readReleased(
  db: Queries,
  sids: readonly string[],
  maxBytes: number,
): Promise<{ sid: string; part: ReleasedRow | null }[]> {
  const rows = await db.query<{ asked: string; sid: string | null } & ReleasedRow>(sql`
    SELECT w.asked, w.sid, w.location, t.id AS transaction, t.subject,
           t.context->>'object' AS object, t.context->>'validity' AS validity, w.language, w.mode, w.sealed
      FROM (SELECT a.sid AS asked, f.sid, f.location, f.transaction, f.language, f.mode, f.sealed,
                   a.place, sum(octet_length(f.sealed)) OVER (ORDER BY a.place) AS bytes
              FROM unnest(${sids}::text[]) WITH ORDINALITY AS a (sid, place)
              LEFT JOIN sent_parts AS f ON f.sid = a.sid AND f.state = 'SENDING') AS w
      LEFT JOIN transactions AS t ON t.id = w.transaction
     WHERE w.place = 1 OR w.bytes IS NULL OR w.bytes <= ${maxBytes}`);
  return rows.map(({ asked, sid, ...part }) => ({ sid: asked, part: sid === null ? null : part }));
}

/** A part, its transaction and the database's time. */
export interface PartOfTransaction extends Pick<Part, 'sid' | 'location' | 'state' | 'mode'> {
  transaction: string;
  transactionState: Transaction['state'];
  /**
   * Whether an owner that still holds it must roll it back: it has failed; its person was erased; its
   * withdrawal was ordered and the transaction is not committed; or its withdrawal was ordered and the order
   * is no longer sent, so that nothing would end its consents.
   */
  mustRollBack: boolean;
  expiresAt: Date;
  now: Date;
}

export function readPart(db: Queries, sid: string): Promise<PartOfTransaction | undefined> {
  return db.maybeOne<PartOfTransaction>(sql`
    SELECT f.sid, f.location, f.state, f.mode, f.transaction, t.state AS "transactionState",
           f.state IN ('REFUSED', 'DROPPED') OR t.erased_at IS NOT NULL OR coalesce(
             t.state <> 'COMMITTED' AND n.state IS NOT NULL OR n.state NOT IN ('QUEUED', 'OVERDUE'), false)
             AS "mustRollBack",
           t.expires_at AS "expiresAt", accord_now() AS now
      FROM sent_parts AS f JOIN transactions AS t ON t.id = f.transaction LEFT JOIN ${withdrawalNotice}
     WHERE f.sid = ${sid}`);
}

/** The language in which a form with questions of peers was answered; undefined if there are none. */
export async function readPartLanguage(db: Queries, transaction: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ language: string }>(sql`
    SELECT f.language FROM sent_parts AS f WHERE f.transaction = ${transaction} LIMIT 1`);
  return row?.language;
}

/** Whether all parts of a transaction are held, and whether one has failed or is being withdrawn. */
export function summarizeParts(db: Queries, transaction: string) {
  return db.one<{ allHeld: boolean; anyFailed: boolean; anyWithdrawn: boolean }>(sql`
    SELECT coalesce(bool_and(f.state = 'HELD'), true) AS "allHeld",
           coalesce(bool_or(f.state IN ('REFUSED', 'DROPPED')), false) AS "anyFailed",
           coalesce(bool_or(${isWithdrawn}), false) AS "anyWithdrawn"
      FROM sent_parts AS f WHERE f.transaction = ${transaction}`);
}

/** Whether parts of a transaction wait for its confirmation code, and whether one of them was withdrawn. */
export function summarizeWaiting(db: Queries, transaction: string) {
  return db.one<{ any: boolean; anyWithdrawn: boolean }>(sql`
    SELECT count(*) > 0 AS any, coalesce(bool_or(${isWithdrawn}), false) AS "anyWithdrawn"
      FROM sent_parts AS f WHERE f.transaction = ${transaction} AND f.state = 'WAITING'`);
}

/** Whether no part of a committed transaction is stale (docs/interface.md, "Duplicate creation"). */
export async function areInForce(db: Queries, transaction: string): Promise<boolean> {
  const { inForce } = await db.one<{ inForce: boolean }>(sql`
    SELECT NOT EXISTS (
             SELECT FROM sent_parts AS f
              WHERE f.transaction = t.id AND (f.state IN ('REFUSED', 'DROPPED') OR ${isWithdrawn}))
       AND NOT EXISTS (
             SELECT FROM sent_parts AS own JOIN transactions AS o ON o.subject = t.subject AND o.id <> t.id
               JOIN sent_parts AS f ON f.transaction = o.id AND f.location = own.location
               LEFT JOIN ${withdrawalNotice} LEFT JOIN transactions AS w ON w.id = n.withdrawal
              WHERE own.transaction = t.id
                AND o.context->>'object' IS NOT DISTINCT FROM t.context->>'object' AND f.state <> 'WAITING'
                AND NOT (f.state = 'DROPPED' AND f.reason IN ('unsent', 'withdrawn'))
                AND greatest(o.changed_at, w.changed_at) >= t.changed_at) AS "inForce"
      FROM transactions AS t WHERE t.id = ${transaction}`);
  return inForce;
}
