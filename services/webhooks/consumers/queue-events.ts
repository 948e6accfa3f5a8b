import type { Database } from '#lib/db/database.ts';
import { type EventBus, sharedReader, type Topic } from '#lib/events/event-bus.ts';
import { actionOf, canBeAcknowledged, namesOf } from '../domain/actions.ts';
import { keptDays } from '../jobs/delete-old.ts';
import { queueDeliveries, subscribedNames } from '../queries/deliveries.ts';

const consumer = 'webhooks';
const topics: readonly Topic[] = [
  'accord.consents',
  'accord.models',
  'accord.keys',
  'accord.peers',
  'accord.heads',
];

/**
 * Compacted topics keep events for ever. Events older than this are skipped, because their inbox entries may
 * have been deleted.
 */
const maxAgeMs = (keptDays - 2) * 86_400_000;

/**
 * Turns events into deliveries, once per event and webhook. @param wake tells the delivery engine that a
 * delivery is due. @param wakeRelay tells the relay that the states of notices have changed.
 */
export function queueEvents({
  bus,
  db,
  wake,
  wakeRelay,
}: {
  bus: EventBus;
  db: Database;
  wake: () => void;
  wakeRelay: () => void;
}): void {
  const reader = sharedReader({ name: consumer, db });
  const isSubscribed = createSubscriptionCheck(db);
  for (const topic of topics)
    bus.subscribe(topic, reader, async (event, arrivedAt) => {
      const action = actionOf(event.type);
      if (action === undefined || Date.parse(event.time) < Date.now() - maxAgeMs) return;
      const names = namesOf(action);
      // Most events have no subscriber, and this read costs less than a COMMIT. An event without an effect
      // needs no inbox entry.
      if (!(await isSubscribed(names, arrivedAt))) return;
      if ((await queueDeliveries(db, { event, action, names, consumer })) === 0) return;
      wake();
      if (canBeAcknowledged(action)) wakeRelay();
    });
}

/** Reads the subscribed names at most once for all events that arrived before the read. */
function createSubscriptionCheck(db: Database) {
  let latest: { at: number; subscribed: Promise<ReadonlySet<string>> } | undefined;
  function read() {
    const reading = { at: performance.now(), subscribed: subscribedNames(db) };
    latest = reading;
    reading.subscribed.catch(() => {
      if (latest === reading) latest = undefined;
    });
    return reading;
  }
  return async (names: readonly string[], arrivedAt: number): Promise<boolean> => {
    const { subscribed } = latest && latest.at >= arrivedAt ? latest : read();
    const found = await subscribed;
    return names.some((name) => found.has(name));
  };
}
