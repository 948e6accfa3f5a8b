import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';

/**
 * Applies an event's effect at most once, whatever comes how often: the event is noted first, in the effect's own transaction, so a second
 * attempt waits for the first and then finds it (reliability.md, "Consumer"). Effects outside the database are rows to be worked later.
 * @param tx the transaction, which the caller commits. @param consumer the reader's name.
 * @returns whether the effect ran now.
 */
export async function applyOnce(
  tx: Queries,
  { consumer, eventId }: { consumer: string; eventId: string },
  effect: () => Promise<void>,
): Promise<boolean> {
  const noted = await tx.maybeOne(noteOnce({ consumer, eventId }));
  if (noted === undefined) return false;
  await effect();
  return true;
}

/**
 * The same for an effect that is one statement, as a part of it (`WITH noted AS (${noteOnce(…)}) INSERT … FROM noted`): it has a row the
 * first time, and none whenever the event comes again.
 * @param from what stands after FROM, if it depends on something: it has a row, or none; or one for each of several events.
 */
export function noteOnce(
  { consumer, eventId }: { consumer: string; eventId: string | Statement },
  from: Statement = sql`(SELECT) AS always`,
): Statement {
  return sql`
    INSERT INTO inbox (consumer, event_id) SELECT ${consumer}::text, ${eventId}::uuid FROM ${from}
    ON CONFLICT (consumer, event_id) DO NOTHING
    RETURNING event_id`;
}

/** Forgets events that nobody sends again any more: topics keep them for less long, or readers pass over what is so old. @returns how many rows went. */
export async function forgetApplied(
  db: Queries,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const gone = await db.query(sql`
    DELETE FROM inbox WHERE (consumer, event_id) IN (
      SELECT i.consumer, i.event_id FROM inbox AS i WHERE i.applied_at < now() - ${days} * interval '1 day'
       ORDER BY i.applied_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING event_id`);
  return gone.length;
}
