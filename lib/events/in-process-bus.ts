import type { KafkaSecurity } from '#lib/config/kafka-security.ts';
import { createEventApplier, type Subscription } from '#lib/events/apply-event.ts';
import { type EventBus, heldBack, type OutboundEvent, type Unsent } from '#lib/events/event-bus.ts';
import { type EventContract, readEventContract } from '#lib/events/event-contract.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';

interface Options {
  contract: EventContract;
  log: Logger;
  metrics?: EventMetrics | undefined;
  tracing?: Tracing | undefined;
}

/**
 * How many keys are delivered concurrently, so that a slow reader of one topic does not hold up other topics
 * of the same batch.
 */
const maxConcurrent = 16;

/** The relay waits for more rows, because claiming single rows costs more than applying their events. */
const lingerMs = 25;

/**
 * The bus of one process: an event is acknowledged once every reader has applied it or stored a dead letter.
 */
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
    return { id: event.id, permanent: false, error: new Error('A reader failed to apply the event.') };
  }

  /** Delivers the events of one key. The first event that must be sent again ends the delivery. */
  async function deliverInOrder(queue: readonly OutboundEvent[], arrivedAt: number): Promise<Unsent[]> {
    const unsent: Unsent[] = [];
    for (const [index, each] of queue.entries()) {
      const failed = await deliver(each, arrivedAt);
      if (failed) unsent.push(failed);
      if (failed?.permanent === false) return [...unsent, ...queue.slice(index + 1).map(heldBack)];
    }
    return unsent;
  }

  async function deliverAll(events: readonly OutboundEvent[]): Promise<Unsent[]> {
    const arrivedAt = performance.now();
    const unsent: Unsent[] = [];
    const queues = Map.groupBy(events, ({ topic, key }) => `${topic} ${key}`).values();
    const deliverQueues = async () => {
      for (const queue of queues) unsent.push(...(await deliverInOrder(queue, arrivedAt)));
    };
    await Promise.all(Array.from({ length: maxConcurrent }, deliverQueues));
    return unsent;
  }

  return {
    // An acknowledged event has been applied.
    canLose: false,
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

interface BusOptions {
  /** KAFKA_BROKERS; undefined keeps events within this process, which must be the only one. */
  brokers: readonly string[] | undefined;
  clientId: string;
  security?: KafkaSecurity;
  log: Logger;
  metrics: EventMetrics;
  tracing?: Tracing | undefined;
}

/** Creates the bus that the settings ask for. kafkajs is loaded only if it is used. */
export async function createBus(options: BusOptions): Promise<EventBus> {
  const { brokers, log, metrics, tracing } = options;
  const contract = readEventContract(new URL('../../asyncapi.yaml', import.meta.url));
  if (!brokers) return createInProcessBus({ contract, log, metrics, tracing });
  const { createKafkaBus } = await import('#lib/events/kafka/kafka-bus.ts');
  return createKafkaBus({ ...options, brokers, contract });
}
