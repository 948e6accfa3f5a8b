import type { Database } from '#lib/db/database.ts';
import type { Topic } from '#lib/events/event.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { sharedReader } from '#lib/events/reader.ts';
import { actionOf, subscribableAs } from '../domain/actions.ts';
import { toldWithinDays } from '../domain/retention.ts';
import { queueDeliveries, subscribedNames } from '../queries/deliveries.ts';

const consumer = 'webhooks';
const topics: readonly Topic[] = ['accord.consents', 'accord.models', 'accord.keys', 'accord.peers'];

/** Turns events into deliveries; an event that comes again makes none again. @param wake tells the job that there is something due. */
export function queueEvents({ bus, db, wake }: { bus: EventBus; db: Database; wake: () => void }): void {
  const reader = sharedReader({ name: consumer, db });
  const concernsNobody = createLook(db);
  for (const topic of topics)
    bus.subscribe(topic, reader, async (event, arrivedAt) => {
      const action = actionOf(event.type);
      if (action === undefined || isOld(event.time)) return;
      const names = subscribableAs(action);
      // Most events concern nobody: a look instead of a COMMIT, and nothing to note, because nothing is done.
      if (await concernsNobody(names, arrivedAt)) return;
      if ((await queueDeliveries(db, { event, action, names, consumer })) > 0) wake();
    });
}

/** Whoever subscribes after a look does so after all events that had come before it: one look serves all of those. */
function createLook(db: Database) {
  let latest: { at: number; subscribed: Promise<ReadonlySet<string>> } | undefined;
  function look() {
    const taken = { at: performance.now(), subscribed: subscribedNames(db) };
    latest = taken;
    // One that failed serves nobody else.
    taken.subscribed.catch(() => {
      if (latest === taken) latest = undefined;
    });
    return taken;
  }
  return async (names: readonly string[], arrivedAt: number): Promise<boolean> => {
    const { subscribed } = latest && latest.at >= arrivedAt ? latest : look();
    const found = await subscribed;
    return !names.some((name) => found.has(name));
  };
}

function isOld(time: string): boolean {
  return Date.parse(time) < Date.now() - toldWithinDays * 86_400_000;
}
