import { randomUUID } from 'node:crypto';
import { Kafka, type KafkaMessage, logLevel, type Producer } from 'kafkajs';
import type { CarriedEvent } from '../check/evidence.ts';
import { waitUntil } from '../wait-until.ts';

/** A topic as somebody beside all services sees it. */
export interface TopicLog {
  /** Everything that is in it now, in the order of each partition. */
  read(): Promise<KafkaMessage[]>;
  write(
    messages: readonly {
      key: string | null;
      value: string | Buffer | null;
      headers: Record<string, string>;
    }[],
  ): Promise<void>;
  /** Deletes it and makes it again as it was. */
  deleteAndMake(): Promise<void>;
}

export function createTopicLog({ brokers, topic }: { brokers: string; topic: string }): TopicLog {
  const kafka = new Kafka({ clientId: 'chaos', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  return {
    read: () => readAll(kafka, topic),
    async write(messages) {
      await withProducer(kafka, (producer) =>
        producer.send({
          topic,
          messages: messages.map(({ key, value, headers }) => ({ key, value, headers })),
        }),
      );
    },
    deleteAndMake: () => deleteAndMake(kafka, topic),
  };
}

async function readAll(kafka: Kafka, topic: string): Promise<KafkaMessage[]> {
  const admin = kafka.admin();
  await admin.connect();
  // A broker that has just started, or a topic, has no leader for a moment.
  const offsets = await waitUntil(`${topic} has a leader`, () => admin.fetchTopicOffsets(topic)).finally(() =>
    admin.disconnect(),
  );
  const left = new Map(
    offsets
      .filter(({ low, high }) => BigInt(high) > BigInt(low))
      .map(({ partition, high }) => [partition, BigInt(high)]),
  );
  const messages: KafkaMessage[] = [];
  if (left.size === 0) return messages;
  const consumer = kafka.consumer({ groupId: `chaos-${randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      messages.push(message);
      if (BigInt(message.offset) + 1n >= (left.get(partition) ?? 0n)) left.delete(partition);
    },
  });
  await waitUntil(`all of ${topic} is read`, () => left.size === 0).finally(() => consumer.disconnect());
  return messages;
}

async function withProducer<T>(kafka: Kafka, work: (producer: Producer) => Promise<T>): Promise<T> {
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  return work(producer).finally(() => producer.disconnect());
}

async function deleteAndMake(kafka: Kafka, topic: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const numPartitions = topics[0]?.partitions.length ?? 1;
    await admin.deleteTopics({ topics: [topic] });
    // It may be there already if an attempt failed half-way.
    await waitUntil(`${topic} is made again`, async () => {
      await admin.createTopics({
        topics: [{ topic, numPartitions, replicationFactor: 1 }],
        waitForLeaders: false,
      });
      return true;
    });
  } finally {
    await admin.disconnect();
  }
}

/**
 * What messages in binary mode tell (CloudEvents Kafka binding, §3.2); whatever is no event of a transaction
 * is left out.
 */
export function carriedEvents(messages: readonly KafkaMessage[]): CarriedEvent[] {
  return messages.flatMap(({ headers = {}, value }) => {
    const [id, type] = ['ce_id', 'ce_type'].map((name) => headers[name]?.toString());
    if (!id || !type?.startsWith('io.accord.consent.') || !type.endsWith('.v1')) return [];
    const data = parse(value);
    return data ? [{ id, type, ...data }] : [];
  });
}

function parse(value: Buffer | null): Pick<CarriedEvent, 'transaction' | 'version' | 'state'> | undefined {
  try {
    const { transaction, version, state } = JSON.parse(value?.toString() ?? '');
    return { transaction, version, state };
  } catch {
    return undefined; // Poison.
  }
}
