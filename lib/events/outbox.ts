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
  await tx.query(outboxRow(topic, event));
}

/**
 * The same as a part of a statement that makes the change (`WITH changed AS (…), told AS (${outboxRow(…)})`).
 * @param from a FROM clause: the event is written if it has a row, which must be no more than one.
 */
export function outboxRow<T extends Topic>(topic: T, event: NewEvent<T>, from = sql``): Statement {
  const id = randomUUID();
  return sql`
    INSERT INTO outbox (event_id, topic, key, event)
    SELECT ${id}::uuid, ${topic}::text, ${event.subject}::text,
           ${{ id, ...event, ...requestExtension() }}::jsonb || jsonb_build_object('time', to_json(accord_now())) ${from}`;
}
