import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Topic } from '#lib/events/event.ts';

const keptHours = 24;
/** So many rows a statement, so that none takes long. */
const batchSize = 1_000;

/** Takes acknowledged rows out of the outbox. @param keep whether the carrier may still lose them. */
export async function finishRows(db: Queries, ids: readonly string[], keep: boolean): Promise<void> {
  const gone = sql`DELETE FROM outbox WHERE id = ANY(${ids}::bigint[])`;
  if (!keep) await db.query(gone);
  else
    await db.query(sql`
      WITH gone AS (${gone} RETURNING event_id, topic, key, event)
      INSERT INTO outbox_sent (event_id, topic, key, event) SELECT g.event_id, g.topic, g.key, g.event FROM gone AS g`);
}

/**
 * Puts the events of a topic that were sent within the last day back into the outbox: the topic was lost, and perhaps before everybody had
 * read them (reliability.md, "Topic lost"). Readers know again what they have applied.
 * @param afterMs before which none of them is sent.
 * @returns how many.
 */
export async function sendAgain(db: Queries, topic: Topic, afterMs: number): Promise<number> {
  let count = 0;
  for (;;) {
    const [{ found } = { found: 0 }] = await db.query<{ found: number }>(sql`
      WITH again AS (
        DELETE FROM outbox_sent WHERE id IN (
          SELECT s.id FROM outbox_sent AS s WHERE s.topic = ${topic} ORDER BY s.id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
        RETURNING id, event_id, topic, key, event
      ), put AS (
        INSERT INTO outbox (event_id, topic, key, event, not_before)
        SELECT a.event_id, a.topic, a.key, a.event, now() + ${afterMs} * interval '1 millisecond' FROM again AS a ORDER BY a.id
        ON CONFLICT (event_id) DO NOTHING
      )
      SELECT count(*)::int AS found FROM again`);
    count += found;
    if (found < batchSize) return count;
  }
}

/** Enough to tell that a topic has begun anew: whoever has sent more than that since then has noticed by itself. */
const countedAtMost = 10_000;

/** How many events were acknowledged within the last day, by topic, counted to a bound. */
export async function countSent(db: Queries): Promise<Map<Topic, number>> {
  const found = await db.query<{ topic: Topic; sent: number }>(sql`
    WITH RECURSIVE topics AS (
      (SELECT s.topic FROM outbox_sent AS s ORDER BY s.topic LIMIT 1)
      UNION ALL
      SELECT (SELECT s.topic FROM outbox_sent AS s WHERE s.topic > t.topic ORDER BY s.topic LIMIT 1)
        FROM topics AS t WHERE t.topic IS NOT NULL
    )
    SELECT t.topic, (SELECT count(*)::int FROM (
             SELECT FROM outbox_sent AS s WHERE s.topic = t.topic LIMIT ${countedAtMost}) AS n) AS sent
      FROM topics AS t WHERE t.topic IS NOT NULL`);
  return new Map(found.map(({ topic, sent }) => [topic, sent]));
}

/** Forgets some of what was sent more than a day ago. @returns whether there may be more. */
export async function forgetSent(db: Queries): Promise<boolean> {
  const gone = await db.query(sql`
    DELETE FROM outbox_sent WHERE id IN (
      SELECT s.id FROM outbox_sent AS s WHERE s.sent_at < now() - ${keptHours} * interval '1 hour'
       ORDER BY s.sent_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return gone.length === batchSize;
}
