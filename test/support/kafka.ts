import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import { inject } from 'vitest';
import { createKafkaBus } from '#lib/events/kafka/kafka-bus.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { eventContract } from './event-bus.ts';

/** The Kafka of this worker; null if it cannot be had here. */
export const brokers = inject('kafkaBrokers')?.[Number(process.env.VITEST_POOL_ID) - 1] ?? null;

/** A bus on Kafka. @param address another than the worker's. */
export function makeKafkaBus({ address = brokers ?? '', log = createLogger({ level: 'silent' }) } = {}) {
  return createKafkaBus({
    brokers: address.split(','),
    clientId: 'test',
    contract: eventContract,
    log,
  });
}

/** Kafka without anything of ours in between. */
function plainKafka(address = brokers ?? ''): Kafka {
  return new Kafka({ brokers: address.split(','), clientId: 'plain', logLevel: logLevel.NOTHING });
}

/** Does something with the broker's administration. */
export async function withAdmin<T>(
  work: (admin: ReturnType<Kafka['admin']>) => Promise<T>,
  address?: string,
): Promise<T> {
  const admin = plainKafka(address).admin();
  await admin.connect();
  return work(admin).finally(() => admin.disconnect());
}

/** Writes messages as they are. */
export async function writeRaw(
  topic: string,
  messages: { key?: string; value: string | null; headers?: Record<string, string> }[],
): Promise<void> {
  const producer = plainKafka().producer();
  await producer.connect();
  await producer.send({ topic, messages }).finally(() => producer.disconnect());
}

/** Reads a topic from its beginning until a message is found. */
export async function findRaw(
  topic: string,
  wanted: (message: KafkaMessage) => boolean,
): Promise<KafkaMessage> {
  const consumer = plainKafka().consumer({ groupId: `find-${crypto.randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const found = await new Promise<KafkaMessage>((done) => {
    void consumer.run({ eachMessage: async ({ message }) => void (wanted(message) && done(message)) });
  });
  await consumer.disconnect();
  return found;
}

/** All that is in the topics, each message in one piece: headers, key and value. */
export async function readAll(): Promise<Buffer[]> {
  const topics = await withAdmin(async (admin) => {
    const names = (await admin.listTopics()).filter((name) => !name.startsWith('__'));
    return Promise.all(names.map(async (name) => ({ name, ends: await admin.fetchTopicOffsets(name) })));
  });
  const left = new Map<string, bigint>();
  for (const { name, ends } of topics)
    for (const { partition, low, high } of ends)
      if (BigInt(high) > BigInt(low)) left.set(`${name}:${partition}`, BigInt(high));
  const messages: Buffer[] = [];
  if (left.size === 0) return messages;
  const consumer = plainKafka().consumer({ groupId: `read-${crypto.randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: topics.map(({ name }) => name), fromBeginning: true });
  await new Promise<void>((done) => {
    void consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        const headers = JSON.stringify(message.headers, (_, value) =>
          Buffer.isBuffer(value) ? value.toString() : value,
        );
        messages.push(
          Buffer.concat([
            Buffer.from(headers),
            ...[message.key, message.value].filter((part) => part !== null),
          ]),
        );
        const place = `${topic}:${partition}`;
        if (BigInt(message.offset) + 1n >= (left.get(place) ?? 0n)) left.delete(place);
        if (left.size === 0) done();
      },
    });
  });
  await consumer.disconnect();
  return messages;
}
