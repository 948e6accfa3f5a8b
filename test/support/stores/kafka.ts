import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import { afterAll } from 'vitest';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { startLocalKafka } from '../../infrastructure/kafka.ts';
import type { LocalServer } from '../../infrastructure/local-server.ts';
import { MissingInfrastructure } from '../../infrastructure/programs.ts';
import { createTestKafkaBus, type TestKafkaBus } from './kafka-bus.ts';

const given = process.env.KAFKA_BROKERS;

/**
 * The Kafka of the test file that loads this, which it may do faults to; it ends with the file, because a
 * broker is busy even when nobody asks anything of it. Null if there is another one (`KAFKA_BROKERS`), or
 * none can be had here.
 */
export const ownKafka = given ? null : await startOrTell();

/**
 * Where the test file's Kafka is, with the topics of asyncapi.yaml; null if none can be had here: then tests
 * that need it are left out.
 */
export const brokers = given ?? ownKafka?.address ?? null;

afterAll(() => ownKafka?.stop());
if (brokers)
  await createTopics({
    brokers: brokers.split(','),
    wanted: readTopics(new URL('../../../asyncapi.yaml', import.meta.url)),
  });

/** On a person's machine the other tests still run; in CI what is missing is a failure. */
async function startOrTell(): Promise<LocalServer | null> {
  try {
    return await startLocalKafka();
  } catch (error) {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    process.stderr.write(`\n!!! TESTS ON KAFKA ARE LEFT OUT !!!\n${error.message}\n\n`);
    return null;
  }
}

/** A bus on Kafka. @param address another than the test file's. */
export function makeKafkaBus({ address = brokers ?? '', ...options }: Partial<TestKafkaBus> = {}) {
  return createTestKafkaBus({ address, ...options });
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
