import { CompressionTypes, Partitioners, type Producer, type RecordMetadata } from 'kafkajs';
import { settleWithin, within } from '#lib/async/timing.ts';
import type { OutboundEvent, Topic } from '#lib/events/event.ts';
import type { Unsent } from '#lib/events/event-bus.ts';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import { writeMessage } from '#lib/events/kafka/message.ts';

/** Sends events of one topic. */
export interface Sender {
  /** Resolves with those that were not acknowledged. Never rejects. */
  send(events: readonly OutboundEvent[]): Promise<Unsent[]>;
  stop(): Promise<void>;
}

/** There is nothing under way: what was not acknowledged is sent again. */
const disconnectMs = 1_000;
/** Longer than kafkajs's own bounds, shorter than a lease of the outbox. */
const sendMs = 25_000;

/**
 * Not `idempotent`: after a failed send kafkajs uses the same sequence numbers for other records, which a broker takes for duplicates and
 * drops. The outcome of a rejected send is unknown, so is the state of its producer: the next send has a new one. Each topic has a producer of
 * its own, because one asks for all its topics at once, and fails for all while one is missing.
 * @param onLost called when the topic turns out to have begun anew.
 */
export function createSender(connect: () => KafkaConnection, topic: Topic, onLost: () => void): Sender {
  const notice = createLossNotice(onLost);
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
      const records = await within(
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
      notice.sent(records);
    } catch (error) {
      if (isMissing(error)) notice.missing();
      // Two sends may fail at the same time: the second must not drop the new producer.
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
   * One of them cannot be sent, and the others must not wait for it. When Kafka goes away meanwhile the rest is not tried one by one: that
   * would outlast a lease.
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
  ready.catch(() => {}); // Whoever sends is told.
  return { producer, ready, cut };
}

async function end({ producer, cut }: ConnectedProducer): Promise<void> {
  await settleWithin(disconnectMs, producer.disconnect());
  cut();
}

/** Notices that a topic was deleted and made again: it was missing, or a partition gives out numbers that it has given out before. */
function createLossNotice(onLost: () => void) {
  const newest = new Map<number, bigint>();
  let wasMissing = false;
  return {
    missing() {
      wasMissing = true;
    },
    sent(records: readonly RecordMetadata[]) {
      const offsets = records.map(({ partition, baseOffset = '0' }) => ({
        partition,
        offset: BigInt(baseOffset),
      }));
      const isAnew =
        wasMissing || offsets.some(({ partition, offset }) => offset <= (newest.get(partition) ?? -1n));
      if (isAnew) newest.clear();
      for (const { partition, offset } of offsets) newest.set(partition, offset);
      wasMissing = false;
      if (isAnew) onLost();
    },
  };
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { type?: string }).type === 'UNKNOWN_TOPIC_OR_PARTITION' || isMissing(error.cause);
}

/** What the broker refuses for good (Kafka protocol, "Error Codes"), and what it refuses to a batch that has one such record. */
const permanentErrors = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

function isPermanent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return permanentErrors.has((error as { type?: string }).type ?? '') || isPermanent(error.cause);
}
