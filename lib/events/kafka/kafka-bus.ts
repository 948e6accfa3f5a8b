import { randomUUID } from 'node:crypto';
import { createEventApplier, type Subscription } from '#lib/events/apply-event.ts';
import type { EventBus, OutboundEvent, Topic, Unsent } from '#lib/events/event-bus.ts';
import type { EventContract } from '#lib/events/event-contract.ts';
import {
  createKafkaConnection,
  type KafkaAddress,
  type KafkaConnection,
} from '#lib/events/kafka/kafka-client.ts';
import { createReaderLoop, type ReaderLoop } from '#lib/events/kafka/reader-loop.ts';
import { createSender, createTopicBackoff, type Sender } from '#lib/events/kafka/sender.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

interface Options extends KafkaAddress {
  contract: EventContract;
  log: Logger;
  metrics?: EventMetrics | undefined;
}

/**
 * The bus of several processes, on Apache Kafka: at least once, in binary content mode. Topics are created by
 * `npm run topics` only. Correctness does not depend on kafkajs, which is unmaintained: rows stay in the
 * outbox until they are acknowledged, and readers are idempotent.
 */
export function createKafkaBus(options: Options): EventBus {
  const { contract, log, metrics } = options;
  const connect = () => createKafkaConnection(options);
  const senders = new Map<Topic, Sender>();
  const losses: ((topic: Topic) => void)[] = [];
  const applier = createEventApplier(options);
  const loops: ReaderLoop[] = [];
  const asking = new Set<KafkaConnection>();
  const backoff = createTopicBackoff();

  function addLoop(subscription: Subscription): void {
    const { topic, reader } = subscription;
    // A replica's own group commits nothing, so the broker forgets it; a new one does not wait for old
    // members.
    const groupId = () => `${topic}.${reader.name}${reader.shared ? '' : `.${randomUUID()}`}`;
    loops.push(createReaderLoop({ ...options, connect, groupId, subscription, applier }));
  }

  function reportLoss(topic: Topic): void {
    log.error('a topic was recreated; sending the events of the last day again', { topic });
    for (const listener of losses) listener(topic);
  }

  async function send(topic: Topic, events: readonly OutboundEvent[]): Promise<Unsent[]> {
    const sender = senders.get(topic) ?? createSender(connect, topic, () => reportLoss(topic));
    senders.set(topic, sender);
    const unsent = await sender.send(events);
    if (unsent.some(({ permanent }) => !permanent)) backoff.failed(topic);
    else backoff.succeeded(topic);
    metrics?.published(topic, events.length - unsent.length);
    if (unsent.length > 0) metrics?.publishFailed(topic);
    return unsent;
  }

  async function taken(topics: readonly Topic[]): Promise<ReadonlyMap<Topic, number>> {
    const connection = connect();
    asking.add(connection);
    return countTaken(connection, topics).finally(() => asking.delete(connection));
  }

  const stopReading = async () => void (await Promise.all(loops.map((loop) => loop.stop())));
  return {
    canLose: true,
    onTopicLost: (listener) => void losses.push(listener),
    taken,
    pausedTopics: backoff.pausedTopics,
    lingerMs: 25,
    subscribe: (topic, reader, handler) => addLoop({ topic, reader, handler }),
    async publish(events) {
      const refused: Unsent[] = [];
      const byTopic = new Map<Topic, OutboundEvent[]>();
      for (const each of events) {
        const refusal = contract.refusal(each.topic, each.event);
        if (refusal) refused.push({ id: each.event.id, ...refusal });
        else byTopic.set(each.topic, [...(byTopic.get(each.topic) ?? []), each]);
      }
      // A missing topic must not affect the events of the others.
      const unsent = await Promise.all([...byTopic].map(([topic, group]) => send(topic, group)));
      return [...refused, ...unsent.flat()];
    },
    start() {
      for (const loop of loops) loop.start();
    },
    joined: async () => void (await Promise.all(loops.map((loop) => loop.joined()))),
    stopReading,
    async stop() {
      for (const { cut } of asking) cut();
      await stopReading();
      await Promise.all([...senders.values()].map((sender) => sender.stop()));
    },
  };
}

/** Longer than kafkajs needs if a broker answers. */
const countMs = 15_000;

/**
 * Counts the events that topics have received since they were created, by the next offsets of their
 * partitions, which retention does not reduce. Topics that are missing or have no leader are left out. Closes
 * the connection.
 * @throws if no broker can be reached.
 */
async function countTaken(
  { kafka, cut }: KafkaConnection,
  topics: readonly Topic[],
): Promise<Map<Topic, number>> {
  const taken = new Map<Topic, number>();
  const timer = setTimeout(cut, countMs);
  const admin = kafka.admin();
  try {
    await admin.connect();
    for (const topic of topics) {
      const partitions = await admin.fetchTopicOffsets(topic).catch(() => undefined);
      if (partitions)
        taken.set(
          topic,
          partitions.reduce((sum, { high }) => sum + Number(high), 0),
        );
    }
    return taken;
  } finally {
    clearTimeout(timer);
    cut();
  }
}
