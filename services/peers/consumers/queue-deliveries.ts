import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Database } from '#lib/db/database.ts';
import type { AccordEvent } from '#lib/events/event.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { sharedReader } from '#lib/events/reader.ts';
import { type NewDelivery, queueDelivery } from '../queries/deliveries.ts';

const consumer = 'peers';

/** By type: what is to be done, and when. A decision that does not come by itself within a minute is asked for. */
const kinds: Record<string, Pick<NewDelivery, 'kind' | 'waitSeconds' | 'hours'>> = {
  'io.accord.submission.released.v1': { kind: 'submit', waitSeconds: 0, hours: 30 * 24 },
  'io.accord.submission.decided.v1': { kind: 'decide', waitSeconds: 0, hours: 30 * 24 },
  // The leader decides within 24 hours of its own clock; whoever gave up earlier could miss a decision to commit.
  'io.accord.submission.held.v1': { kind: 'ask', waitSeconds: 60, hours: 25 },
};

/** Topic accord.peer-submissions: each event is a delivery, once. @param wake tells the job that there is something due. */
export function queueDeliveries({ bus, db, wake }: { bus: EventBus; db: Database; wake: () => void }): void {
  bus.subscribe('accord.peer-submissions', sharedReader({ name: consumer, db }), async (event) => {
    const delivery = read(event);
    if (!delivery) return;
    await queueDelivery(db, delivery, { consumer, eventId: event.id });
    wake();
  });
}

function read({ type, time, data }: AccordEvent): NewDelivery | undefined {
  const known = kinds[type];
  if (!known) return undefined;
  const { submission: sid, peer: url, decision } = data as EventData['io.accord.submission.decided.v1'];
  return { ...known, url, sid, time, decision: decision ?? null };
}
