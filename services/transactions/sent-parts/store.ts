import { batchWrites } from '#lib/async/batch-writes.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import { requestExtension } from '#lib/events/outbox.ts';
import { lockSubjectOf } from '../person/positions.ts';
import { lockTransaction } from '../transaction/store.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { partEvents, verdictEvents } from './events.ts';
import { isWithdrawn, withdrawalNotice } from './notices-store.ts';
import type { Move, Part, PartState } from './part.ts';

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
      FROM followers AS f LEFT JOIN ${withdrawalNotice}
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
  validity: string;
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
              LEFT JOIN followers AS f ON f.sid = a.sid AND f.state = 'SENDING') AS w
      LEFT JOIN transactions AS t ON t.id = w.transaction
     WHERE w.place = 1 OR w.bytes IS NULL OR w.bytes <= ${maxBytes}`);
  return rows.map(({ asked, sid, ...part }) => ({ sid: asked, part: sid === null ? null : part }));
}

/** Locks the person of a part and then its transaction, until the end of the database transaction. */
export async function lockTransactionOf(tx: Queries, sid: string): Promise<void> {
  const part = await tx.maybeOne<{ transaction: string }>(sql`
    SELECT f.transaction FROM followers AS f WHERE f.sid = ${sid}`);
  if (!part) return;
  await lockSubjectOf(tx, part.transaction);
  await lockTransaction(tx, part.transaction);
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
      FROM followers AS f JOIN transactions AS t ON t.id = f.transaction LEFT JOIN ${withdrawalNotice}
     WHERE f.sid = ${sid}`);
}

/** Why a part was dropped, and whether its owner was asked to erase it. */
export interface Drop {
  transaction: string;
  /** `taken-back`: the transaction was cancelled or rolled back. */
  code: 'expired' | 'erased' | 'taken-back';
  isErasureRequested: boolean;
}

/**
 * Reads why a part was dropped. Call it before a verdict changes the part, because the verdict overwrites the
 * reason. For a committed transaction it may be called afterwards: a part dropped as `withdrawn` was never
 * sent and gets no verdict, an erased one is recognised by `erased_at`, and every other one has expired.
 */
export function readDrop(db: Queries, sid: string): Promise<Drop> {
  return db.one<Drop>(sql`
    SELECT f.transaction,
           CASE WHEN t.erased_at IS NOT NULL THEN 'erased'
                WHEN f.reason = 'expired' OR t.state = 'COMMITTED' THEN 'expired'
                ELSE 'taken-back' END AS code,
           EXISTS (SELECT FROM notices AS n
                    WHERE n.recipient = f.sid AND n.kind = 'PEER' AND n.erasure IS NOT NULL) AS "isErasureRequested"
      FROM followers AS f JOIN transactions AS t ON t.id = f.transaction WHERE f.sid = ${sid}`);
}

/** The language in which a form with questions of peers was answered; undefined if there are none. */
export async function readPartLanguage(db: Queries, transaction: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ language: string }>(sql`
    SELECT f.language FROM followers AS f WHERE f.transaction = ${transaction} LIMIT 1`);
  return row?.language;
}

/** Whether all parts of a transaction are held, and whether one has failed or is being withdrawn. */
export function summarizeParts(db: Queries, transaction: string) {
  return db.one<{ allHeld: boolean; anyFailed: boolean; anyWithdrawn: boolean }>(sql`
    SELECT coalesce(bool_and(f.state = 'HELD'), true) AS "allHeld",
           coalesce(bool_or(f.state IN ('REFUSED', 'DROPPED')), false) AS "anyFailed",
           coalesce(bool_or(${isWithdrawn}), false) AS "anyWithdrawn"
      FROM followers AS f WHERE f.transaction = ${transaction}`);
}

/** Whether parts of a transaction wait for its confirmation code, and whether one of them was withdrawn. */
export function summarizeWaiting(db: Queries, transaction: string) {
  return db.one<{ any: boolean; anyWithdrawn: boolean }>(sql`
    SELECT count(*) > 0 AS any, coalesce(bool_or(${isWithdrawn}), false) AS "anyWithdrawn"
      FROM followers AS f WHERE f.transaction = ${transaction} AND f.state = 'WAITING'`);
}

/** Whether no part of a committed transaction is stale (docs/interface.md, "Duplicate creation"). */
export async function areInForce(db: Queries, transaction: string): Promise<boolean> {
  const { inForce } = await db.one<{ inForce: boolean }>(sql`
    SELECT NOT EXISTS (
             SELECT FROM followers AS f
              WHERE f.transaction = t.id AND (f.state IN ('REFUSED', 'DROPPED') OR ${isWithdrawn}))
       AND NOT EXISTS (
             SELECT FROM followers AS own JOIN transactions AS o ON o.subject = t.subject AND o.id <> t.id
               JOIN followers AS f ON f.transaction = o.id AND f.location = own.location
               LEFT JOIN ${withdrawalNotice} LEFT JOIN transactions AS w ON w.id = n.withdrawal
              WHERE own.transaction = t.id
                AND o.context->>'object' IS NOT DISTINCT FROM t.context->>'object' AND f.state <> 'WAITING'
                AND NOT (f.state = 'DROPPED' AND f.reason IN ('unsent', 'withdrawn'))
                AND greatest(o.changed_at, w.changed_at) >= t.changed_at) AS "inForce"
      FROM transactions AS t WHERE t.id = ${transaction}`);
  return inForce;
}

/** The event for each state that a verdict leads to. */
const eventOf = {
  HELD: 'io.accord.peer.submission.delivered.v1',
  ACCEPTED: 'io.accord.peer.submission.accepted.v1',
  REFUSED: 'io.accord.peer.submission.refused.v1',
  DROPPED: 'io.accord.peer.submission.refused.v1',
} as const;

/**
 * Writes the state that a verdict led to, deletes the sealed answers, and writes the event.
 * @param change.remoteId the transaction at the peer, if it named one.
 */
export async function changePart(
  tx: Queries,
  { sid, state, reason, remoteId }: Move & { sid: string; remoteId: string | undefined },
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

/** Releases the decision `commit` about one part. */
export async function releaseCommit(
  tx: Queries,
  { sid, location }: Pick<Part, 'sid' | 'location'>,
  source: string,
): Promise<void> {
  const from = sql`(SELECT ${sid}::text AS sid, ${location}::text AS location)`;
  await tx.query(partEvents('decided', { from, source, decision: 'commit' }));
}

/** An owner's verdict on a part, as `createCommittedVerdictWriter` takes it. */
export interface VerdictOfCommitted {
  /** The event that reported the verdict. */
  eventId: string;
  sid: string;
  /** Base URL of the owner that gave the verdict. */
  location: string;
  remoteId: string | undefined;
  /** See `movesInCommitMode`. */
  moves: readonly (Move & { from: PartState })[];
}

export interface CommittedVerdictResult {
  /**
   * False if the caller must apply the verdict itself: the mode is not `commit`, the location differs, the
   * transaction is not COMMITTED, the batch has an earlier verdict on the part, or the part does not move,
   * for example because another statement was changing it.
   */
  applied: boolean;
  /** Whether the part was DROPPED before. */
  wasDropped: boolean;
}

export type WriteCommittedVerdict = ReturnType<typeof createCommittedVerdictWriter>;

/**
 * Fast path: most verdicts are on parts of COMMITTED transactions and only update their part. Verdicts that
 * arrive during a write are written together. With a backlog this saves a quarter of the leader's CPU time
 * for each part (bench/peers.ts).
 * @param consumer the name under which events are noted as applied.
 */
export function createCommittedVerdictWriter(db: Database, names: { consumer: string; source: string }) {
  const write = (verdicts: GivenVerdict[]) => writeVerdicts(db, verdicts, names);
  const writeTogether = batchWrites(0, write);
  return (verdict: VerdictOfCommitted): Promise<CommittedVerdictResult> => {
    const given = { ...verdict, extension: requestExtension() };
    return writeTogether(given).catch(async () => {
      // A verdict that the database refuses must not fail the others: each is retried alone.
      const [result] = await write([given]);
      return result as CommittedVerdictResult;
    });
  };
}

type GivenVerdict = VerdictOfCommitted & { extension: object };

/** Of several verdicts on one part only the first is applied. @returns results in the order given. */
function writeVerdicts(
  db: Database,
  verdicts: readonly GivenVerdict[],
  { consumer, source }: { consumer: string; source: string },
): Promise<CommittedVerdictResult[]> {
  const given = verdicts.map(({ moves, ...verdict }, place) => ({
    place,
    ...verdict,
    moves: moves.map((move) => ({ ...move, type: eventOf[move.state] })),
  }));
  return db.query<CommittedVerdictResult>(sql`
    WITH given AS MATERIALIZED (
      SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          AS g (place integer, "eventId" uuid, sid text, location text, "remoteId" text, extension jsonb,
                moves jsonb)
    ), known AS MATERIALIZED (
      SELECT DISTINCT ON (g.sid) g.*
        FROM given AS g
       CROSS JOIN LATERAL (
             SELECT FROM followers AS f JOIN transactions AS t ON t.id = f.transaction
              WHERE f.sid = g.sid AND f.location = g.location AND f.mode = 'commit'
                AND t.state = 'COMMITTED') AS f
       ORDER BY g.sid, g.place
    ), f AS (
      UPDATE followers AS f
         SET state = m.state, version = f.version + 1, reason = m.reason,
             remote_id = coalesce(k."remoteId", f.remote_id), sealed = NULL, changed_at = accord_now()
        FROM known AS k
       CROSS JOIN LATERAL jsonb_to_recordset(k.moves) AS m ("from" text, state text, reason text, type text)
       WHERE f.sid = k.sid AND f.state = m."from"
      RETURNING f.*, m."from", m.type, k.extension, k.place AS given, k."eventId"
    ), noted AS (${noteOnce({ consumer, eventId: sql`f."eventId"` }, sql`f`)}
    ), event AS (${verdictEvents({ type: sql`s.type`, extension: sql`s.extension` }, source)}
    )
    SELECT f.given IS NOT NULL AS applied, coalesce(f."from" = 'DROPPED', false) AS "wasDropped"
      FROM given AS g LEFT JOIN f ON f.given = g.place
     ORDER BY g.place`);
}
