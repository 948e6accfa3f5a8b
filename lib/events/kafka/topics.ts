import { setTimeout as wait } from 'node:timers/promises';
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import type { KafkaSecurity } from '#lib/config/kafka-security.ts';
import { readAsyncApi } from '#lib/events/event-contract.ts';
import { createKafkaClient } from '#lib/events/kafka/kafka-client.ts';

/** A topic of asyncapi.yaml. */
export interface WantedTopic {
  topic: string;
  partitions: number;
  /** Kafka's names and values. */
  settings: Record<string, string>;
}

/** Topics, and the Kafka that has them or shall have them. */
export interface TopicsOnKafka {
  brokers: readonly string[];
  security?: KafkaSecurity;
  wanted: readonly WantedTopic[];
}

/** The result of `npm run topics`. */
export interface TopicsReport {
  created: string[];
  /** Sentences about existing topics with other settings; they are not changed. */
  differences: string[];
}

/**
 * Settings of all topics. Events get the broker's time, because a wrong clock of a producer could have them
 * refused or expired before they are read. They are stored uncompressed: kafkajs cannot decompress all
 * codecs, nor limit the size.
 */
const settingsOfAll = { 'message.timestamp.type': 'LogAppendTime', 'compression.type': 'uncompressed' };

/** Replicas of each event, if there are as many brokers. */
const maxReplication = 3;
/** How long to wait for the leaders of new topics. */
const leadersMs = 30_000;
const askAgainMs = 100;

/** Reads the topics of asyncapi.yaml from the bindings of its channels. */
export function readTopics(file: URL): WantedTopic[] {
  return Object.values(readAsyncApi(file).channels).map(({ address, bindings }) => {
    const { partitions, topicConfiguration } = bindings.kafka;
    const settings = Object.entries(topicConfiguration).map(([name, value]) => [
      name,
      [value].flat().join(','),
    ]);
    return { topic: address, partitions, settings: { ...settingsOfAll, ...Object.fromEntries(settings) } };
  });
}

/**
 * Creates missing topics. Existing topics are not changed, because changing partitions breaks the order of
 * events and changing retention may lose some; differences are reported.
 */
export async function createTopics({ wanted, ...kafka }: TopicsOnKafka): Promise<TopicsReport> {
  return withAdmin(kafka, async (admin) => {
    const replication = Math.min(maxReplication, (await admin.describeCluster()).brokers.length);
    const present = new Set(await admin.listTopics());
    const missing = wanted.filter(({ topic }) => !present.has(topic));
    if (missing.length > 0) await makeTopics(admin, missing, replication);
    const kept = wanted.filter(({ topic }) => present.has(topic));
    return { created: missing.map(({ topic }) => topic), differences: await findDifferences(admin, kept) };
  });
}

/** @returns the names of wanted topics that do not exist. */
export function findMissingTopics({ wanted, ...kafka }: TopicsOnKafka): Promise<string[]> {
  return withAdmin(kafka, async (admin) => {
    const present = new Set(await admin.listTopics());
    return wanted.map(({ topic }) => topic).filter((topic) => !present.has(topic));
  });
}

async function withAdmin<T>(
  kafka: Omit<TopicsOnKafka, 'wanted'>,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = createKafkaClient({ ...kafka, clientId: 'accord-topics' }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/**
 * Creates topics and waits until brokers know them and their leaders. kafkajs gives up on unknown topics.
 */
async function makeTopics(admin: Admin, wanted: readonly WantedTopic[], replication: number): Promise<void> {
  const topics = wanted.map((each) => toKafka(each, replication));
  await admin.createTopics({ waitForLeaders: false, topics });
  const deadline = performance.now() + leadersMs;
  for (;;) {
    try {
      await admin.fetchTopicMetadata({ topics: wanted.map(({ topic }) => topic) });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await wait(askAgainMs);
  }
}

function toKafka({ topic, partitions, settings }: WantedTopic, replication: number): ITopicConfig {
  return {
    topic,
    numPartitions: partitions,
    replicationFactor: replication,
    configEntries: Object.entries({
      ...settings,
      // An acknowledged event survives the loss of one broker, and one broker may be down.
      'min.insync.replicas': String(Math.max(1, replication - 1)),
    }).map(([name, value]) => ({ name, value })),
  };
}

async function findDifferences(admin: Admin, wanted: readonly WantedTopic[]): Promise<string[]> {
  if (wanted.length === 0) return [];
  const { topics } = await admin.fetchTopicMetadata({ topics: wanted.map(({ topic }) => topic) });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: wanted.map(({ topic }) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic })),
  });
  return wanted.flatMap(({ topic, partitions, settings }) => {
    const partitionCount = topics.find(({ name }) => name === topic)?.partitions.length;
    const entries = resources.find(({ resourceName }) => resourceName === topic)?.configEntries ?? [];
    const found = Object.entries(settings).flatMap(([name, value]) => {
      const actual = entries.find(({ configName }) => configName === name)?.configValue;
      return actual === value ? [] : [`${topic}: ${name} is ${actual}, and should be ${value}`];
    });
    return partitionCount === partitions
      ? found
      : [`${topic}: has ${partitionCount} partitions, and should have ${partitions}`, ...found];
  });
}
