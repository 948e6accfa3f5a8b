import { createEventApplier, type Subscription } from '#lib/events/apply-event.ts';
import type { OutboundEvent } from '#lib/events/event.ts';
import type { EventBus, Unsent } from '#lib/events/event-bus.ts';
import type { EventContract } from '#lib/events/event-contract.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

interface Options {
  contract: EventContract;
  log: Logger;
  metrics?: EventMetrics | undefined;
}

/** So many keys have their events delivered side by side: a slow reader of one topic does not hold up another one's. */
const lanes = 16;

/** How long a relay may wait for more events once it has sent some: claiming them one by one costs more than applying them. */
const lingerMs = 25;

/** The bus of one process: an event is acknowledged when every reader has applied it or put it aside. */
export function createInProcessBus(options: Options): EventBus {
  const { contract, metrics } = options;
  const applier = createEventApplier(options);
  const subscriptions: Subscription[] = [];
  const running = new Set<Promise<unknown>>();
  let reading = true;

  async function deliver({ topic, event }: OutboundEvent, arrivedAt: number): Promise<Unsent | undefined> {
    const refusal = contract.refusal(topic, event);
    if (refusal) return { id: event.id, ...refusal };
    if (!reading) return { id: event.id, permanent: false, error: new Error('The bus is stopped.') };
    const arrival = { read: () => event, place: event.id, eventId: event.id, arrivedAt };
    const done = await Promise.all(
      subscriptions.filter((each) => each.topic === topic).map((each) => applier.apply(each, arrival)),
    );
    if (done.every(Boolean)) {
      metrics?.published(topic, 1);
      return undefined;
    }
    metrics?.publishFailed(topic);
    return { id: event.id, permanent: false, error: new Error('A reader could not apply it.') };
  }

  /** Events with one key keep their order, and no others, as on Kafka. */
  async function deliverAll(events: readonly OutboundEvent[]): Promise<Unsent[]> {
    const arrivedAt = performance.now();
    const unsent: Unsent[] = [];
    const queues = Map.groupBy(events, ({ topic, key }) => `${topic} ${key}`).values();
    const deliverQueues = async () => {
      for (const queue of queues)
        for (const each of queue) {
          const failed = await deliver(each, arrivedAt);
          if (failed) unsent.push(failed);
        }
    };
    await Promise.all(Array.from({ length: lanes }, deliverQueues));
    return unsent;
  }

  return {
    // What is acknowledged has been applied.
    canLose: false,
    onTopicLost: () => {},
    taken: async () => new Map(),
    pausedTopics: () => [],
    lingerMs,
    subscribe: (topic, reader, handler) => void subscriptions.push({ topic, reader, handler }),
    async publish(events) {
      const work = deliverAll(events);
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    start() {
      reading = true;
    },
    joined: async () => {},
    async stopReading() {
      reading = false;
      await Promise.all(running);
    },
    async stop() {
      reading = false;
      await Promise.all(running);
    },
  };
}
