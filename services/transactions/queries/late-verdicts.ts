import { batchWrites } from '#lib/async/batch-writes.ts';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import { requestExtension } from '#lib/events/outbox.ts';
import type { PartState, VerdictState } from '../domain/part.ts';
import { verdictEvents } from './events.ts';
import { eventOf } from './parts.ts';

/** An owner's verdict on a part of a transaction that is committed already. */
export interface LateVerdict {
  /** The event that brought it. */
  eventId: string;
  sid: string;
  /** Base URL of the peer that gave it. */
  location: string;
  remoteId: string | undefined;
  /** See `movesAfterCommit`. */
  moves: readonly { from: PartState; state: VerdictState; reason: string | null }[];
}

export interface LateVerdictResult {
  /** False if the transaction is not committed or the part is not this peer's; nothing was done then. */
  applied: boolean;
  changed: boolean;
}

export type WriteLateVerdict = (verdict: LateVerdict) => Promise<LateVerdictResult>;

/**
 * Fast path: most verdicts arrive after the commit and only update their part. Those that arrive during a
 * write are written together. Saves a quarter of the leader's CPU per part of a backlog (bench/peers.ts).
 * @param consumer the name under which events are noted as applied.
 */
export function createLateVerdictWriter(
  db: Database,
  names: { consumer: string; source: string },
): WriteLateVerdict {
  const write = batchWrites(0, (verdicts: readonly (LateVerdict & { extension: object })[]) =>
    writeVerdicts(db, verdicts, names),
  );
  return async (verdict) => {
    const given = { ...verdict, extension: requestExtension() };
    return write(given).catch(async () => {
      // A verdict that the database refuses must not fail the others: each is retried alone.
      const [result] = await writeVerdicts(db, [given], names);
      return result as LateVerdictResult;
    });
  };
}

/** Of several verdicts on one part only the first is applied. @returns results in the order given. */
function writeVerdicts(
  db: Database,
  verdicts: readonly (LateVerdict & { extension: object })[],
  { consumer, source }: { consumer: string; source: string },
): Promise<LateVerdictResult[]> {
  const given = verdicts.map(({ moves, ...verdict }, place) => ({
    place,
    ...verdict,
    moves: moves.map((move) => ({ ...move, type: eventOf[move.state] })),
  }));
  return db.query<LateVerdictResult>(sql`
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
    ), noted AS (${noteOnce({ consumer, eventId: sql`k."eventId"` }, sql`known AS k`)}
    ), f AS (
      UPDATE followers AS f
         SET state = m.state, version = f.version + 1, reason = m.reason,
             remote_id = coalesce(k."remoteId", f.remote_id), sealed = NULL, changed_at = accord_now()
        FROM noted AS n JOIN known AS k ON k."eventId" = n.event_id
       CROSS JOIN LATERAL jsonb_to_recordset(k.moves) AS m ("from" text, state text, reason text, type text)
       WHERE f.sid = k.sid AND f.state = m."from"
      RETURNING f.*, m.type, k.extension, k.place AS given
    ), event AS (${verdictEvents({ type: sql`s.type`, extension: sql`s.extension` }, source)}
    )
    SELECT k.place IS NOT NULL AS applied, f.given IS NOT NULL AS changed
      FROM given AS g LEFT JOIN known AS k ON k.place = g.place LEFT JOIN f ON f.given = g.place
     ORDER BY g.place`);
}
