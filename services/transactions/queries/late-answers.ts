import { batchWrites } from '#lib/async/batch-writes.ts';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import { requestExtension } from '#lib/events/request-extension.ts';
import type { AnsweredState, FollowerState } from '../domain/follower.ts';
import { followerEvents, tellOfFollowers } from './followers.ts';

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
