import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Topic } from '#lib/events/event.ts';

/** An event that was put aside: ids alone, because what cannot be read may contain anything (reliability.md, "Poison"). */
export interface DeadLetter {
  /** Who has put it aside: a reader's name, or `relay`. */
  consumer: string;
  topic: Topic;
  /** Where it lies in the topic, `partition:offset`; for an event that was never sent the id of its outbox row. */
  place: string;
  /** Absent if the message has none that is well-formed. */
  eventId?: string;
  type?: string;
  subject?: string;
  /** Why, in words of ours. */
  reason: string;
}

/** An event that no repetition can help: it cannot be read, or is of a version that this code does not know. */
export class PoisonError extends Error {
  /** @param reason in words of ours, never quoting the event. */
  constructor(reason: string) {
    super(reason);
    this.name = 'PoisonError';
  }
}

/** SQLSTATE class 22, "data exception": a value is none that PostgreSQL could keep, now or later. */
const dataException = /^22[0-9A-Z]{3}$/;

/**
 * Says why an event is poison if its handler threw `error`; undefined for a fault that may pass. The contract lets texts through that
 * PostgreSQL does not take, a NUL or half of a character: taken for a fault that passes, one would hold up all that come after it.
 */
export function poisonReason(error: unknown): string | undefined {
  if (error instanceof PoisonError) return error.message;
  const { code } = error as { code?: unknown };
  return error instanceof Error && typeof code === 'string' && dataException.test(code)
    ? `The database does not take a value of it (SQLSTATE ${code}).`
    : undefined;
}

/** Writes a dead letter; once, however often it is parked. */
export async function parkDeadLetter(db: Queries, letter: DeadLetter): Promise<void> {
  await db.query(sql`
    INSERT INTO dead_letters (consumer, topic, place, event_id, type, subject, reason)
    VALUES (${letter.consumer}, ${letter.topic}, ${letter.place}, ${letter.eventId}, ${letter.type}, ${letter.subject}, ${letter.reason})
    ON CONFLICT (consumer, topic, place) DO NOTHING`);
}
