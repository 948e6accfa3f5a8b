import { randomUUID } from 'node:crypto';
import { createEventApplier, type Subscription } from '#lib/events/apply-event.ts';
import {
  type EventBus,
  heldBack,
  type OutboundEvent,
  type Topic,
  type Unsent,
} from '#lib/events/event-bus.ts';
import type { EventContract } from '#lib/events/event-contract.ts';
import { createKafkaConnection, type KafkaAddress } from '#lib/events/kafka/kafka-client.ts';
import { createReaderLoop, type ReaderLoop } from '#lib/events/kafka/reader-loop.ts';
import { startSendSpans } from '#lib/events/kafka/send-spans.ts';
import { createSender, createTopicBackoff, type Sender } from '#lib/events/kafka/sender.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';

interface Options extends KafkaAddress {
  contract: EventContract;
  log: Logger;
  metrics?: EventMetrics | undefined;
  tracing?: Tracing | undefined;
}

/**
 * The bus of several processes, on Apache Kafka: at least once, in binary content mode. Topics are created by
 * `npm run topics` only. Correctness does not depend on kafkajs, which is unmaintained: rows stay in the
 * outbox until they are acknowledged, and readers are idempotent.
 */
export function createKafkaBus(options: Options): EventBus {
  const { contract, metrics, tracing } = options;
  const connect = () => createKafkaConnection(options);
  const senders = new Map<Topic, Sender>();
  const applier = createEventApplier(options);
  const loops: ReaderLoop[] = [];
  const backoff = createTopicBackoff();

  function addLoop(subscription: Subscription): void {
    const { topic, reader } = subscription;
    // A reader of one replica gets a new group for each consumer, which waits for no earlier members. The
    // broker forgets the group, because nothing is committed.
    const groupId = () => `${topic}.${reader.name}${reader.shared ? '' : `.${randomUUID()}`}`;
    loops.push(createReaderLoop({ ...options, connect, groupId, subscription, applier }));
  }

  async function send(topic: Topic, events: readonly OutboundEvent[]): Promise<Unsent[]> {
    const sender = senders.get(topic) ?? createSender(connect, topic);
    senders.set(topic, sender);
    const endSpans = startSendSpans(tracing, topic, events);
    const unsent = await sender.send(events);
    endSpans(unsent);
    if (unsent.some(({ permanent }) => !permanent)) backoff.failed(topic);
    else backoff.succeeded(topic);
    metrics?.published(topic, events.length - unsent.length);
    if (unsent.length > 0) metrics?.publishFailed(topic);
    return unsent;
  }

  const stopReading = async () => void (await Promise.all(loops.map((loop) => loop.stop())));
  return {
    canLose: true,
    pausedTopics: backoff.pausedTopics,
    lingerMs: 25,
    subscribe: (topic, reader, handler) => addLoop({ topic, reader, handler }),
    async publish(events) {
      const refused: Unsent[] = [];
      const blocked = new Set<string>();
      const allowed = events.filter((each) => {
        const { topic, key, event } = each;
        const refusal = contract.refusal(topic, event);
        const isBlocked = blocked.has(`${topic} ${key}`);
        if (isBlocked) refused.push(heldBack(each));
        else if (refusal) refused.push({ id: event.id, ...refusal });
        if (refusal?.permanent === false) blocked.add(`${topic} ${key}`);
        return !refusal && !isBlocked;
      });
      // A missing topic must not affect the events of other topics.
      const byTopic = [...Map.groupBy(allowed, ({ topic }) => topic)];
      const unsent = await Promise.all(byTopic.map(([topic, group]) => send(topic, group)));
      return [...refused, ...unsent.flat()];
    },
    start() {
      for (const loop of loops) loop.start();
    },
    joined: async () => void (await Promise.all(loops.map((loop) => loop.joined()))),
    stopReading,
    async stop() {
      await stopReading();
      await Promise.all([...senders.values()].map((sender) => sender.stop()));
    },
  };
}
