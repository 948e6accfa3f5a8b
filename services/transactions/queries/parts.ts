import { batchWrites } from '#lib/async/batch-writes.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import { requestExtension } from '#lib/events/request-extension.ts';
import type { AnsweredState, Follower, FollowerState } from '../domain/part.ts';
import type { State, Transaction } from '../domain/transaction.ts';

/** Peers' parts of transactions, by transaction, in the order of the form. Those that name no peer, or are not answered, are not asked for. */
export async function readFollowers(
  db: Queries,
  transactions: readonly Pick<Transaction, 'id' | 'layout' | 'state'>[],
): Promise<Map<string, Follower[]>> {
  const byTransaction = new Map<string, Follower[]>();
  const asked = transactions.filter(
    ({ layout, state }) => state !== 'CREATED' && layout.elements.some((key) => key.includes('@')),
  );
  if (asked.length === 0) return byTransaction;
  const rows = await db.query<Follower & { transaction: string }>(sql`
    SELECT f.transaction, f.sid, f.location, f.name, f.state, f.reason, f.remote_id AS "remoteId", f.mode, f.shown
      FROM followers AS f WHERE f.transaction = ANY(${asked.map(({ id }) => id)}::text[])
     ORDER BY f.transaction, f.place`);
  for (const { transaction, ...follower } of rows) {
    const known = byTransaction.get(transaction);
    if (known) known.push(follower);
    else byTransaction.set(transaction, [follower]);
  }
  return byTransaction;
}

/** A part that may be sent, and what is said beside it. */
export interface ReleasedPart {
  location: string;
  deadline: Date;
  transaction: string;
  subject: string;
  object: string | null;
  validity: string;
  language: string;
  mode: Follower['mode'];
  sealed: string;
}

/**
 * Parts by sid, as many as fit in so many bytes of what is sealed, and the first in any case.
 * @returns part: null if it may not be sent (any more).
 */
export async function readReleased(
  db: Queries,
  sids: readonly string[],
  mostBytes: number,
): Promise<{ sid: string; part: ReleasedPart | null }[]> {
  const rows = await db.query<{ asked: string; sid: string | null } & ReleasedPart>(sql`
    SELECT w.asked, w.sid, w.location, w.deadline, t.id AS transaction, t.subject, t.context->>'object' AS object, t.context->>'validity' AS validity,
           w.language, w.mode, w.sealed
      FROM (SELECT a.sid AS asked, f.sid, f.location, f.deadline, f.transaction, f.language, f.mode, f.sealed, a.place,
                   sum(octet_length(f.sealed)) OVER (ORDER BY a.place) AS bytes
              FROM unnest(${sids}::text[]) WITH ORDINALITY AS a (sid, place)
              LEFT JOIN followers AS f ON f.sid = a.sid AND f.state = 'SENDING') AS w
      LEFT JOIN transactions AS t ON t.id = w.transaction
     WHERE w.place = 1 OR w.bytes IS NULL OR w.bytes <= ${mostBytes}`);
  return rows.map(({ asked, sid, ...part }) => ({ sid: asked, part: sid === null ? null : part }));
}

/** Waits for whoever changes the transaction of a part, until the end of the database transaction. @returns its id. */
export async function lockTransactionOf(tx: Queries, sid: string): Promise<string | undefined> {
  const row = await tx.maybeOne<{ id: string }>(sql`
    SELECT t.id FROM transactions AS t
     WHERE t.id = (SELECT f.transaction FROM followers AS f WHERE f.sid = ${sid}) FOR UPDATE`);
  return row?.id;
}

export async function readFollower(
  db: Queries,
  sid: string,
): Promise<Pick<Follower, 'location' | 'state' | 'mode'> | undefined> {
  return db.maybeOne(sql`SELECT f.location, f.state, f.mode FROM followers AS f WHERE f.sid = ${sid}`);
}

/** Whose a part is, and how the transaction stands. */
export async function readTransactionOf(
  db: Queries,
  sid: string,
): Promise<{ location: string; state: State; expiresAt: Date; now: Date } | undefined> {
  return db.maybeOne(sql`
    SELECT f.location, t.state, t.expires_at AS "expiresAt", accord_now() AS now
      FROM followers AS f JOIN transactions AS t ON t.id = f.transaction WHERE f.sid = ${sid}`);
}

/** What has become of a part. */
export interface FollowerChange {
  sid: string;
  state: AnsweredState;
  reason: string | null;
  /** The transaction at the peer, if it said so. */
  remoteId: string | undefined;
}

/** What is told of a part that has come into a state. */
export const followerEvents = {
  HELD: 'io.accord.peer.submission.delivered.v1',
  ACCEPTED: 'io.accord.peer.submission.accepted.v1',
  REFUSED: 'io.accord.peer.submission.refused.v1',
  DROPPED: 'io.accord.peer.submission.refused.v1',
} as const;

/**
 * Writes what has become of a part, and tells it as a fact about its transaction. What was sealed is gone from then on: nobody needs it any
 * more.
 */
export async function changeFollower(tx: Queries, change: FollowerChange, source: string): Promise<void> {
  const { sid, state, reason, remoteId } = change;
  await tx.query(sql`
    WITH f AS (
      UPDATE followers SET state = ${state}, version = version + 1, reason = ${reason}, remote_id = coalesce(${remoteId}, remote_id),
             sealed = NULL, changed_at = accord_now()
       WHERE sid = ${sid}
      RETURNING *, ${followerEvents[state]}::text AS told, ${requestExtension()}::jsonb AS extension
    ) ${tellOfFollowers(source)}`);
}

/**
 * The events of the changed parts in `f`; their types are in the column `told`, and what they say of the request that led to them in
 * `extension`.
 */
export function tellOfFollowers(source: string): Statement {
  return sql`
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT f.event_id, 'accord.consents', f.transaction,
             jsonb_build_object('id', f.event_id, 'type', f.told, 'source', ${source}::text, 'subject', f.transaction,
               'time', to_json(f.changed_at), 'data',
               jsonb_strip_nulls(jsonb_build_object('transaction', f.transaction, 'peer', f.location, 'version', f.version, 'reason', f.reason)))
             || f.extension
        FROM (SELECT gen_random_uuid() AS event_id, f.* FROM f) AS f`;
}

/** A peer's word that changes nothing but its part, because the transaction is in force already. */
export interface LateAnswer {
  /** The event that tells it. */
  eventId: string;
  sid: string;
  /** Who says it. */
  location: string;
  remoteId: string | undefined;
  /** What it makes of the part, by the state in which that is. */
  moves: readonly { from: FollowerState; state: AnsweredState; reason: string | null }[];
}

/** known: false if the word is another one, and nothing was done. changed: whether it made a difference. */
export interface LateOutcome {
  known: boolean;
  changed: boolean;
}

/**
 * Takes note of such words; the same event again changes nothing. Those that come while others are being written are one statement.
 * @param consumer under whose name the events are noted.
 */
export function createLateAnswers(
  db: Database,
  { consumer, source }: { consumer: string; source: string },
): (answer: LateAnswer) => Promise<LateOutcome> {
  const apply = batchWrites(0, (answers: readonly (LateAnswer & { extension: object })[]) =>
    applyLateAnswers(db, answers, { consumer, source }),
  );
  return async (answer) => {
    const given = { ...answer, extension: requestExtension() };
    return apply(given).catch(async () => {
      // What the database does not take of one is not the fault of the others: each is tried by itself.
      const [outcome] = await applyLateAnswers(db, [given], { consumer, source });
      return outcome as LateOutcome;
    });
  };
}

/** Of several about one part the first counts as known. @returns in the order given. */
function applyLateAnswers(
  db: Database,
  answers: readonly (LateAnswer & { extension: object })[],
  { consumer, source }: { consumer: string; source: string },
): Promise<LateOutcome[]> {
  const given = answers.map(({ moves, ...answer }, place) => ({
    ...{ place, ...answer },
    moves: moves.map((move) => ({ ...move, told: followerEvents[move.state] })),
  }));
  return db.query<LateOutcome>(sql`
    WITH given AS MATERIALIZED (
      SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          AS g (place integer, "eventId" uuid, sid text, location text, "remoteId" text, extension jsonb, moves jsonb)
    ), known AS MATERIALIZED (
      SELECT DISTINCT ON (g.sid) g.*
        FROM given AS g
       CROSS JOIN LATERAL (
             SELECT FROM followers AS f JOIN transactions AS t ON t.id = f.transaction
              WHERE f.sid = g.sid AND f.location = g.location AND f.mode = 'commit' AND t.state = 'COMMITTED') AS f
       ORDER BY g.sid, g.place
    ), noted AS (${noteOnce({ consumer, eventId: sql`k."eventId"` }, sql`known AS k`)}
    ), f AS (
      UPDATE followers AS f SET state = m.state, version = f.version + 1, reason = m.reason, remote_id = coalesce(k."remoteId", f.remote_id),
             sealed = NULL, changed_at = accord_now()
        FROM noted AS n JOIN known AS k ON k."eventId" = n.event_id
       CROSS JOIN LATERAL jsonb_to_recordset(k.moves) AS m ("from" text, state text, reason text, told text)
       WHERE f.sid = k.sid AND f.state = m."from"
      RETURNING f.*, m.told, k.extension, k.place AS given
    ), event AS (${tellOfFollowers(source)}
    )
    SELECT k.place IS NOT NULL AS known, f.given IS NOT NULL AS changed
      FROM given AS g LEFT JOIN known AS k ON k.place = g.place LEFT JOIN f ON f.given = g.place
     ORDER BY g.place`);
}
