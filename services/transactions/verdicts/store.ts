import { batchWrites } from '#lib/async/batch-writes.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import { requestExtension } from '#lib/events/outbox.ts';
import { lockSubjectOf } from '../person/positions-sql.ts';
import { partEvents, verdictEvents } from '../sent-parts/events.ts';
import type { Move, Part, PartState } from '../sent-parts/part.ts';
import { lockTransaction } from '../transaction/store.ts';

/** Locks the person of a part and then its transaction, until the end of the database transaction. */
export async function lockTransactionOf(tx: Queries, sid: string): Promise<void> {
  const part = await tx.maybeOne<{ transaction: string }>(sql`
    SELECT f.transaction FROM sent_parts AS f WHERE f.sid = ${sid}`);
  if (!part) return;
  await lockSubjectOf(tx, part.transaction);
  await lockTransaction(tx, part.transaction);
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
      FROM sent_parts AS f JOIN transactions AS t ON t.id = f.transaction WHERE f.sid = ${sid}`);
}

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
      UPDATE sent_parts
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

/** The event for each state that a verdict leads to. */
const eventOf = {
  HELD: 'io.accord.peer.submission.delivered.v1',
  ACCEPTED: 'io.accord.peer.submission.accepted.v1',
  REFUSED: 'io.accord.peer.submission.refused.v1',
  DROPPED: 'io.accord.peer.submission.refused.v1',
} as const;

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
             SELECT FROM sent_parts AS f JOIN transactions AS t ON t.id = f.transaction
              WHERE f.sid = g.sid AND f.location = g.location AND f.mode = 'commit'
                AND t.state = 'COMMITTED') AS f
       ORDER BY g.sid, g.place
    ), f AS (
      UPDATE sent_parts AS f
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
