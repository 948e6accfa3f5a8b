import { CompressionTypes, Partitioners, type Producer } from 'kafkajs';
import { backoffMs, settleWithin, within } from '#lib/async/timing.ts';
import type { OutboundEvent, Topic, Unsent } from '#lib/events/event-bus.ts';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import { writeMessage } from '#lib/events/kafka/message.ts';

/** Publishes the events of one topic. */
export interface Sender {
  /** Resolves with the events that were not acknowledged. Never rejects. */
  send(events: readonly OutboundEvent[]): Promise<Unsent[]>;
  stop(): Promise<void>;
}

/** Nothing is lost by disconnecting: unacknowledged events are sent again. */
const disconnectMs = 1_000;
/** Longer than kafkajs's own time-outs, shorter than a lease of the outbox. */
const sendMs = 25_000;

/**
 * Producers are not `idempotent`: after a failed send kafkajs reuses sequence numbers for other records,
 * which the broker drops as duplicates. A producer is in an unknown state after a failed send, so the next
 * send uses a new one. Each topic has its own: a producer fails for all its topics while one is missing.
 */
export function createSender(connect: () => KafkaConnection, topic: Topic): Sender {
  let current: ConnectedProducer | undefined;
  let ended: Promise<void> = Promise.resolve();

  function drop(): Promise<void> {
    const dropped = current;
    current = undefined;
    if (dropped) ended = end(dropped);
    return ended;
  }

  async function trySend(events: readonly OutboundEvent[]): Promise<void> {
    current ??= connectProducer(connect());
    const used = current;
    try {
      await within(
        sendMs,
        used.ready.then((producer) =>
          producer.send({
            topic,
            acks: -1,
            compression: CompressionTypes.None,
            messages: events.map(writeMessage),
          }),
        ),
      );
    } catch (error) {
      // Concurrent sends may both fail: the second must not drop the new producer.
      if (current === used) void drop();
      throw error;
    }
  }

  async function send(events: readonly OutboundEvent[]): Promise<Unsent[]> {
    try {
      await trySend(events);
      return [];
    } catch (error) {
      const permanent = isPermanent(error);
      if (!permanent || events.length === 1)
        return events.map(({ event }) => ({ id: event.id, permanent, error }));
      return sendEach(events);
    }
  }

  /**
   * Sends events one by one, because one of them is permanently refused. Stops at a transient failure: trying
   * the rest during an outage would outlast the lease.
   */
  async function sendEach(events: readonly OutboundEvent[]): Promise<Unsent[]> {
    const unsent: Unsent[] = [];
    for (const [index, event] of events.entries()) {
      const [failed] = await send([event]);
      if (failed?.permanent === false)
        return [...unsent, ...events.slice(index).map((each) => ({ ...failed, id: each.event.id }))];
      if (failed) unsent.push(failed);
    }
    return unsent;
  }

  return { send, stop: drop };
}

interface ConnectedProducer {
  producer: Producer;
  ready: Promise<Producer>;
  cut(): void;
}

function connectProducer({ kafka, cut }: KafkaConnection): ConnectedProducer {
  const producer = kafka.producer({
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  const ready = producer.connect().then(() => producer);
  ready.catch(() => {}); // Reported by the send.
  return { producer, ready, cut };
}

async function end({ producer, cut }: ConnectedProducer): Promise<void> {
  await settleWithin(disconnectMs, producer.disconnect());
  cut();
}

/**
 * Permanent errors of the broker (Kafka protocol, "Error Codes"). One such record in a batch fails the whole
 * batch.
 */
const permanentErrors = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

function isPermanent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return permanentErrors.has((error as { type?: string }).type ?? '') || isPermanent(error.cause);
}

/** Exponential back-off for topics that cannot be written. */
export interface TopicBackoff {
  failed(topic: Topic): void;
  succeeded(topic: Topic): void;
  /** Topics that should not be written now. */
  pausedTopics(): Topic[];
}

/** The upper bound is that of an outbox row's back-off (outbox-relay.ts). */
const limits = { minMs: 100, maxMs: 5_000 };

/** Pauses a topic after a failed send, for twice as long after each further failure. */
export function createTopicBackoff(clock = () => performance.now()): TopicBackoff {
  const pauses = new Map<Topic, { until: number; failures: number }>();
  return {
    failed(topic) {
      const failures = (pauses.get(topic)?.failures ?? 0) + 1;
      pauses.set(topic, { until: clock() + backoffMs(failures, limits), failures });
    },
    succeeded: (topic) => void pauses.delete(topic),
    pausedTopics: () => [...pauses].filter(([, { until }]) => until > clock()).map(([topic]) => topic),
  };
}
