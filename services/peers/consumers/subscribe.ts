import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Database } from '#lib/db/database.ts';
import { type AccordEvent, type EventBus, sharedReader } from '#lib/events/event-bus.ts';
import { orderHours } from '../domain/delivery.ts';
import { type NewDelivery, queueDelivery } from '../queries/deliveries.ts';

const consumer = 'peers';

/** Deliveries by event type. `hours`: their deadline after the event, unless the event states one. */
const kinds: Record<string, Pick<NewDelivery, 'kind' | 'waitSeconds'> & { hours: number }> = {
  'io.accord.submission.released.v1': { kind: 'submit', waitSeconds: 0, hours: 30 * 24 },
  'io.accord.submission.withdrawn.v1': { kind: 'withdraw', waitSeconds: 0, hours: orderHours },
  'io.accord.submission.erased.v1': { kind: 'erase', waitSeconds: 0, hours: 30 * 24 },
  'io.accord.submission.decided.v1': { kind: 'decide', waitSeconds: 0, hours: 30 * 24 },
  // The leader may decide for 24 hours. The extra hour allows for its clock and for the delivery.
  'io.accord.submission.held.v1': { kind: 'ask', waitSeconds: 60, hours: 25 },
};

/**
 * Topic accord.peer-submissions: queues a delivery for each event. Topic accord.models: announces changes.
 * @param wake called with the peer's base URL when a delivery was queued.
 */
export function subscribePeers({
  bus,
  db,
  wake,
  announce,
}: {
  bus: EventBus;
  db: Database;
  wake: (url: string) => void;
  announce: () => void;
}): void {
  const reader = sharedReader({ name: consumer, db });
  bus.subscribe('accord.peer-submissions', reader, async (event) => {
    const delivery = deliveryOf(event);
    if (!delivery) return;
    await queueDelivery(db, delivery, { consumer, eventId: event.id });
    wake(delivery.url);
  });
  bus.subscribe('accord.models', reader, async () => announce());
}

function deliveryOf({ type, time, data }: AccordEvent): NewDelivery | undefined {
  const known = kinds[type];
  if (!known) return undefined;
  const { hours, ...kind } = known;
  const { submission: sid, peer: url, ...stated } = data as EventData['io.accord.submission.decided.v1'];
  const deadline = stated.deadline ?? new Date(Date.parse(time) + hours * 3_600_000).toISOString();
  return { ...kind, url, sid, time, decision: stated.decision ?? null, deadline };
}
