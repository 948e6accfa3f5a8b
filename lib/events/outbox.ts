import { randomUUID } from 'node:crypto';
import type { EventData, TopicEvents } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { AccordEvent, Topic } from '#lib/events/event-bus.ts';
import { currentRequestId } from '#lib/observability/logger.ts';
import { currentTraceparent } from '#lib/observability/tracing.ts';

/** An event without id and time, with the data of its type in asyncapi.yaml. */
export type NewEvent<T extends Topic> = {
  [Type in TopicEvents[T]]: Pick<AccordEvent, 'source' | 'subject'> & { type: Type; data: EventData[Type] };
}[TopicEvents[T]];

/**
 * Writes an event in the transaction of its change. The event is published if and only if that transaction
 * commits (docs/reliability.md). Wake the relay after the COMMIT. The key is the event's `subject`.
 */
export async function addToOutbox<T extends Topic>(tx: Queries, topic: T, event: NewEvent<T>): Promise<void> {
  await tx.query(outboxRows(topic, sql`(SELECT ${newEvent(event)}::jsonb AS event)`));
}

/** An event without its time, which the database adds. */
export function newEvent<T extends Topic>(event: NewEvent<T>): object {
  return { id: randomUUID(), ...event, ...requestExtension() };
}

/**
 * The SQL form of {@link addToOutbox}, for the statement that makes the change (`WITH changed AS (…),
 * written AS (${outboxRows(…)})`).
 * @param from what stands after FROM: each row has an event made by {@link newEvent} in its column `event`.
 */
export function outboxRows(topic: Topic, from: Statement): Statement {
  return sql`
    INSERT INTO outbox (event_id, topic, key, event)
    SELECT (n.event->>'id')::uuid, ${topic}::text, n.event->>'subject',
           n.event || jsonb_build_object('time', to_json(accord_now()))
      FROM ${from} AS n`;
}

/** The extensions `requestid` and `traceparent` of an event written now; empty in background work. */
export function requestExtension(): { requestid?: string; traceparent?: string } {
  const [requestid, traceparent] = [currentRequestId(), currentTraceparent()];
  return {
    ...(requestid === undefined ? {} : { requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
