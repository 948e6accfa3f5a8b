import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Topic } from '#lib/events/event-bus.ts';

const keptHours = 24;
/** Rows per statement, so that each is short. */
const batchSize = 1_000;

/** Removes acknowledged rows from the outbox. @param keep whether to keep copies for a day. */
export async function finishRows(db: Queries, ids: readonly string[], keep: boolean): Promise<void> {
  const gone = sql`DELETE FROM outbox WHERE id = ANY(${ids}::bigint[])`;
  if (!keep) await db.query(gone);
  else
    await db.query(sql`
      WITH gone AS (${gone} RETURNING event_id, topic, key, event)
      INSERT INTO outbox_sent (event_id, topic, key, event) SELECT g.event_id, g.topic, g.key, g.event FROM gone AS g`);
}

/**
 * Puts events of the last day back into the outbox, because their topics were lost with events that consumers
 * had not read yet (docs/operations.md, "A topic was lost"). Consumers ignore events that they have applied.
 * @returns how many.
 */
export async function refillOutbox(db: Queries, topics: readonly Topic[]): Promise<number> {
  // Published again, these events return to outbox_sent with higher ids.
  const { last } = await db.one<{ last: string }>(
    sql`SELECT coalesce(max(s.id), 0)::text AS last FROM outbox_sent AS s`,
  );
  let count = 0;
  for (;;) {
    const { moved } = await db.one<{ moved: number }>(sql`
      WITH again AS (
        DELETE FROM outbox_sent WHERE id IN (
          SELECT s.id FROM outbox_sent AS s WHERE s.topic = ANY(${topics}::text[]) AND s.id <= ${last}::bigint
           ORDER BY s.id LIMIT ${batchSize} FOR UPDATE)
        RETURNING id, event_id, topic, key, event
      ), put AS (
        INSERT INTO outbox (event_id, topic, key, event)
        SELECT a.event_id, a.topic, a.key, a.event FROM again AS a ORDER BY a.id
        ON CONFLICT (event_id) DO NOTHING
      )
      SELECT count(*)::int AS moved FROM again`);
    count += moved;
    if (moved < batchSize) return count;
  }
}

/** Removes some of the events sent more than a day ago. @returns whether there may be more. */
export async function forgetSent(db: Queries): Promise<boolean> {
  const gone = await db.query(sql`
    DELETE FROM outbox_sent WHERE id IN (
      SELECT s.id FROM outbox_sent AS s WHERE s.sent_at < now() - ${keptHours} * interval '1 hour'
       ORDER BY s.sent_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return gone.length === batchSize;
}
