import { randomUUID } from 'node:crypto';
import type { EventData, TopicEvents } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { AccordEvent, Topic } from '#lib/events/event.ts';
import { requestExtension } from '#lib/events/request-extension.ts';

/** An event before it has an id and a time, with the data that asyncapi.yaml has for its type. */
export type NewEvent<T extends Topic> = {
  [Type in TopicEvents[T]]: Pick<AccordEvent, 'source' | 'subject'> & { type: Type; data: EventData[Type] };
}[TopicEvents[T]];

/**
 * Writes an event beside the change it tells of, in the same transaction: it will be sent if and only if that commits
 * (reliability.md, "Outbox, inbox"). Wake the relay after the COMMIT. The aggregate's id is the key.
 */
export async function addToOutbox<T extends Topic>(tx: Queries, topic: T, event: NewEvent<T>): Promise<void> {
  await tx.query(outboxRows(topic, sql`(SELECT ${newEvent(event)}::jsonb AS event)`));
}

/** An event whole but for its time, which is the database's when it is written. */
export function newEvent<T extends Topic>(event: NewEvent<T>): object {
  return { id: randomUUID(), ...event, ...requestExtension() };
}

/**
 * The same as a part of a statement that makes the change (`WITH changed AS (…), told AS (${outboxRows(…)})`).
 * @param from what stands after FROM: each of its rows has an event of the topic, made by {@link newEvent}, in its column `event`.
 */
export function outboxRows(topic: Topic, from: Statement): Statement {
  return sql`
    INSERT INTO outbox (event_id, topic, key, event)
    SELECT (n.event->>'id')::uuid, ${topic}::text, n.event->>'subject', n.event || jsonb_build_object('time', to_json(accord_now()))
      FROM ${from} AS n`;
}
