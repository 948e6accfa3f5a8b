import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { EventBus, Topic } from '#lib/events/event-bus.ts';
import type { Logger } from '#lib/observability/logger.ts';

const keptHours = 24;
/** Rows per statement, so that each is short. */
const batchSize = 1_000;

/** Removes acknowledged rows from the outbox. @param keep whether the broker may still lose them. */
export async function finishRows(db: Queries, ids: readonly string[], keep: boolean): Promise<void> {
  const gone = sql`DELETE FROM outbox WHERE id = ANY(${ids}::bigint[])`;
  if (!keep) await db.query(gone);
  else
    await db.query(sql`
      WITH gone AS (${gone} RETURNING event_id, topic, key, event)
      INSERT INTO outbox_sent (event_id, topic, key, event) SELECT g.event_id, g.topic, g.key, g.event FROM gone AS g`);
}

/**
 * Puts the recorded events of a lost topic back into the outbox, because readers
 * may not have read all of them (docs/reliability.md). Readers ignore those that they have applied.
 * @param afterMs delay before they are sent. @returns how many.
 */
export async function sendAgain(db: Queries, topic: Topic, afterMs: number): Promise<number> {
  let count = 0;
  for (;;) {
    const [{ found } = { found: 0 }] = await db.query<{ found: number }>(sql`
      WITH again AS (
        DELETE FROM outbox_sent WHERE id IN (
          SELECT s.id FROM outbox_sent AS s WHERE s.topic = ${topic}
           ORDER BY s.id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
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

/**
 * Enough to detect a recreated topic: a relay that has sent more than this since then has detected it itself.
 */
const maxCount = 10_000;

/** Counts the events acknowledged within the last day, by topic, up to a bound. */
async function countSent(db: Queries): Promise<Map<Topic, number>> {
  const found = await db.query<{ topic: Topic; sent: number }>(sql`
    WITH RECURSIVE topics AS (
      (SELECT s.topic FROM outbox_sent AS s ORDER BY s.topic LIMIT 1)
      UNION ALL
      SELECT (SELECT s.topic FROM outbox_sent AS s WHERE s.topic > t.topic ORDER BY s.topic LIMIT 1)
        FROM topics AS t WHERE t.topic IS NOT NULL
    )
    SELECT t.topic, (SELECT count(*)::int FROM (
             SELECT FROM outbox_sent AS s WHERE s.topic = t.topic LIMIT ${maxCount}) AS n) AS sent
      FROM topics AS t WHERE t.topic IS NOT NULL`);
  return new Map(found.map(({ topic, sent }) => [topic, sent]));
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

/** Checks periodically whether topics still have the events sent to them. */
export interface TopicWatch {
  start(): void;
  /** Resolves when no check runs any more. */
  stop(): Promise<void>;
}

interface WatchParts {
  db: Database;
  bus: Pick<EventBus, 'canLose' | 'taken'>;
  log: Logger;
  onLost(topic: Topic): void;
}

const everyMs = 60_000;
/** While the broker is down. */
const soonMs = 5_000;

/**
 * A sender detects a recreated topic by its offsets, but not if it has sent nothing since its own start. So
 * each relay also compares: a topic that has received fewer events than PostgreSQL recorded as acknowledged
 * within the last day was recreated.
 */
export function createTopicWatch({ db, bus, log, onLost }: WatchParts): TopicWatch {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<boolean> {
    try {
      // In this order: events sent in between count as received.
      const sent = await countSent(db);
      if (sent.size === 0) return true;
      const taken = await bus.taken([...sent.keys()]);
      for (const [topic, count] of sent) {
        const has = taken.get(topic);
        if (has === undefined || has >= count) continue;
        log.error('a topic has lost events; sending the events of the last day again', {
          topic,
        });
        onLost(topic);
      }
      return taken.size === sent.size;
    } catch {
      // Outages are logged by senders and readers.
      return false;
    }
  }

  async function lookOn(): Promise<void> {
    const seen = await look();
    if (!stopped) timer = setTimeout(begin, seen ? everyMs : soonMs).unref();
  }

  function begin(): void {
    looking = lookOn();
  }

  return {
    start() {
      stopped = false;
      if (bus.canLose) begin();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
