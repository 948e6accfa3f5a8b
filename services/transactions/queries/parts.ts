import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Part, VerdictState } from '../domain/part.ts';
import type { Transaction } from '../domain/transaction.ts';
import { partEvents, verdictEvents } from './events.ts';

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
           f.shown
      FROM followers AS f WHERE f.transaction = ANY(${answered.map(({ id }) => id)}::text[])
     ORDER BY f.transaction, f.place`);
  return Map.groupBy(rows, ({ transaction }) => transaction);
}

/** A part to be delivered, with the facts of its transaction. */
export interface ReleasedPart {
  location: string;
  transaction: string;
  subject: string;
  object: string | null;
  validity: string;
  language: string;
  mode: Part['mode'];
  sealed: string;
}

/**
 * Parts by sid: the first one, and more as long as their sealed content fits into `maxBytes`.
 * @returns part: null if it may not be delivered (any more).
 */
export async function readReleased(
  db: Queries,
  sids: readonly string[],
  maxBytes: number,
): Promise<{ sid: string; part: ReleasedPart | null }[]> {
  const rows = await db.query<{ asked: string; sid: string | null } & ReleasedPart>(sql`
    SELECT w.asked, w.sid, w.location, t.id AS transaction, t.subject,
           t.context->>'object' AS object, t.context->>'validity' AS validity, w.language, w.mode, w.sealed
      FROM (SELECT a.sid AS asked, f.sid, f.location, f.transaction, f.language, f.mode, f.sealed,
                   a.place, sum(octet_length(f.sealed)) OVER (ORDER BY a.place) AS bytes
              FROM unnest(${sids}::text[]) WITH ORDINALITY AS a (sid, place)
              LEFT JOIN followers AS f ON f.sid = a.sid AND f.state = 'SENDING') AS w
      LEFT JOIN transactions AS t ON t.id = w.transaction
     WHERE w.place = 1 OR w.bytes IS NULL OR w.bytes <= ${maxBytes}`);
  return rows.map(({ asked, sid, ...part }) => ({ sid: asked, part: sid === null ? null : part }));
}

/** Locks the transaction of a part until the end of the database transaction. */
export async function lockTransactionOf(tx: Queries, sid: string): Promise<void> {
  await tx.query(sql`
    SELECT t.id FROM transactions AS t
     WHERE t.id = (SELECT f.transaction FROM followers AS f WHERE f.sid = ${sid}) FOR UPDATE`);
}

/** A part, its transaction and the database's time. */
export type PartOfTransaction = Pick<Part, 'sid' | 'location' | 'state' | 'mode'> & {
  transaction: Pick<Transaction, 'id' | 'state' | 'expiresAt'>;
  now: Date;
};

export async function readPart(db: Queries, sid: string): Promise<PartOfTransaction | undefined> {
  const row = await db.maybeOne<
    Omit<PartOfTransaction, 'transaction'> & {
      id: string;
      transactionState: Transaction['state'];
      expiresAt: Date;
    }
  >(sql`
    SELECT f.sid, f.location, f.state, f.mode, t.id, t.state AS "transactionState", t.expires_at AS "expiresAt",
           accord_now() AS now
      FROM followers AS f JOIN transactions AS t ON t.id = f.transaction WHERE f.sid = ${sid}`);
  if (!row) return undefined;
  const { id, transactionState, expiresAt, ...part } = row;
  return { ...part, transaction: { id, state: transactionState, expiresAt } };
}

/** Whether all parts of a transaction are held, and whether one has failed. */
export async function readHeld(
  db: Queries,
  transaction: string,
): Promise<{ allHeld: boolean; anyFailed: boolean }> {
  return db.one<{ allHeld: boolean; anyFailed: boolean }>(sql`
    SELECT coalesce(bool_and(f.state = 'HELD'), true) AS "allHeld",
           coalesce(bool_or(f.state IN ('REFUSED', 'DROPPED')), false) AS "anyFailed"
      FROM followers AS f WHERE f.transaction = ${transaction}`);
}

interface PartChange {
  sid: string;
  state: VerdictState;
  reason: string | null;
  /** The transaction at the peer, if it named one. */
  remoteId: string | undefined;
}

/** The event for each state that a verdict leads to. */
export const eventOf = {
  HELD: 'io.accord.peer.submission.delivered.v1',
  ACCEPTED: 'io.accord.peer.submission.accepted.v1',
  REFUSED: 'io.accord.peer.submission.refused.v1',
  DROPPED: 'io.accord.peer.submission.refused.v1',
} as const;

/** Writes the state that a verdict led to, deletes the sealed answers, and writes the event. */
export async function changePart(
  tx: Queries,
  { sid, state, reason, remoteId }: PartChange,
  source: string,
): Promise<void> {
  await tx.query(sql`
    WITH f AS (
      UPDATE followers
         SET state = ${state}, version = version + 1, reason = ${reason},
             remote_id = coalesce(${remoteId}, remote_id), sealed = NULL, changed_at = accord_now()
       WHERE sid = ${sid}
      RETURNING *
    ) ${verdictEvents({ type: sql`${eventOf[state]}::text` }, source)}`);
}

/** Releases the decision `commit` to the owner of one part. */
export async function releaseCommit(
  tx: Queries,
  { sid, location }: Pick<Part, 'sid' | 'location'>,
  source: string,
): Promise<void> {
  const from = sql`(SELECT ${sid}::text AS sid, ${location}::text AS location)`;
  await tx.query(partEvents('decided', { from, source, decision: 'commit' }));
}
