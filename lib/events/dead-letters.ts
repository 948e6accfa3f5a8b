import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Topic } from '#lib/events/event-bus.ts';
import type { TableReaders } from '#lib/observability/metrics/table-metrics.ts';

/**
 * An event that could not be processed: ids only, because invalid content may contain anything
 * (docs/operations.md, "Dead letters").
 */
export interface DeadLetter {
  /** The reader that stored it, or `relay`. */
  consumer: string;
  topic: Topic;
  /**
   * `partition:offset` on Kafka; the id of the event within one process; for an event that was never sent,
   * the id of its outbox row.
   */
  place: string;
  /** Absent if the message has no well-formed id. */
  eventId?: string;
  type?: string;
  subject?: string;
  /** Never quotes the event. */
  reason: string;
}

/** A permanent failure of an event: it is invalid, or of a version that this code does not know. */
export class PoisonError extends Error {
  /** @param reason never quotes the event. */
  constructor(reason: string) {
    super(reason);
    this.name = 'PoisonError';
  }
}

/** SQLSTATE class 22, "data exception": PostgreSQL cannot store a value. */
const dataException = /^22[0-9A-Z]{3}$/;

/**
 * Returns why the failure of a handler is permanent; undefined if it is transient. The contract allows texts
 * that PostgreSQL cannot store, such as NUL or half of a surrogate pair: to retry such an event would block
 * all later ones.
 */
export function poisonReason(error: unknown): string | undefined {
  if (error instanceof PoisonError) return error.message;
  const { code } = error as { code?: unknown };
  return error instanceof Error && typeof code === 'string' && dataException.test(code)
    ? `The database cannot store a value of the event (SQLSTATE ${code}).`
    : undefined;
}

/** Stores a dead letter. Idempotent. */
export async function parkDeadLetter(db: Queries, letter: DeadLetter): Promise<void> {
  await db.query(sql`
    INSERT INTO dead_letters (consumer, topic, place, event_id, type, subject, reason)
    VALUES (${letter.consumer}, ${letter.topic}, ${letter.place}, ${letter.eventId},
            ${letter.type}, ${letter.subject}, ${letter.reason})
    ON CONFLICT (consumer, topic, place) DO NOTHING`);
}

/** Rows are counted up to this number, because exact counts of more rows are slow. */
const countedAtMost = 100_000;

/** Gauges of a service's outbox and dead letters. */
export function eventTables(service: string, db: Queries): TableReaders {
  return {
    service,
    outbox: () =>
      db.one(sql`
        SELECT (SELECT count(*)::int FROM (SELECT 1 FROM outbox LIMIT ${countedAtMost}) AS o) AS rows,
               coalesce((SELECT extract(epoch FROM accord_now() - (o.event->>'time')::timestamptz)::float8
                           FROM outbox AS o ORDER BY o.id LIMIT 1), 0) AS "oldestSeconds"`),
    deadLetters: () =>
      db.query(sql`SELECT d.topic, count(*)::int AS count FROM dead_letters AS d GROUP BY d.topic`),
  };
}
