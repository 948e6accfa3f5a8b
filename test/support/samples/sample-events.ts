import { randomUUID } from 'node:crypto';
import type { AccordEvent, OutboundEvent, Topic } from '#lib/events/event-bus.ts';

/** An event as the services write it. */
export function sampleEvent(changes: Partial<AccordEvent> = {}): AccordEvent {
  const transaction = 'ABCDEFGHJKLMNPQRSTUVWX';
  return {
    id: randomUUID(),
    type: 'io.accord.consent.created.v1',
    source: 'https://consent.example.org',
    subject: transaction,
    time: new Date().toISOString(),
    data: { transaction, state: 'CREATED', version: 1 },
    ...changes,
  };
}

/** The same on its way, in accord.consents unless another topic is named. */
export function outbound(
  event: AccordEvent = sampleEvent(),
  topic: Topic = 'accord.consents',
): OutboundEvent {
  return { topic, key: event.subject, event };
}

/** A key was revoked. */
export function keyRevoked(): OutboundEvent {
  const key = randomUUID();
  const data = { key, scope: 'OWNER', version: 2 };
  return outbound(sampleEvent({ type: 'io.accord.key.revoked.v1', subject: key, data }), 'accord.keys');
}
