import { setTimeout as wait } from 'node:timers/promises';
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import { readAsyncApi } from '#lib/events/async-api.ts';
import { createKafkaClient } from '#lib/events/kafka/kafka-client.ts';

/** A topic as asyncapi.yaml has it. */
export interface WantedTopic {
  topic: string;
  partitions: number;
  /** Kafka's names and values. */
  settings: Record<string, string>;
}

/** What `npm run topics` has done and found. */
export interface TopicsReport {
  created: string[];
  /** Sentences about topics that are there and not as they should be; nothing of theirs is changed. */
  differences: string[];
}

/**
 * What every topic has beside that. The broker's clock dates events: a producer's may be wrong by so much that they are refused, or gone before
 * they were read. And events lie there as they are read: kafkajs cannot open what others compress, nor ends where that becomes endless.
 */
const settingsOfAll = { 'message.timestamp.type': 'LogAppendTime', 'compression.type': 'uncompressed' };

/** Of each event there are so many copies, or as many as there are brokers. */
const maxReplication = 3;
/** For so long brokers may choose the leaders of new topics. */
const leadersMs = 30_000;
const askAgainMs = 100;

/** The topics of asyncapi.yaml, from the bindings of its channels; with what all of them have. */
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
 * Creates the topics that are missing. A topic that is there is left as it is, because a change of partitions breaks the order of its
 * events and a change of retention may lose some: differences are told.
 */
export async function createTopics({
  brokers,
  wanted,
}: {
  brokers: readonly string[];
  wanted: readonly WantedTopic[];
}): Promise<TopicsReport> {
  const admin = createKafkaClient({ brokers, clientId: 'accord-topics' }).admin();
  await admin.connect();
  try {
    const replication = Math.min(maxReplication, (await admin.describeCluster()).brokers.length);
    const present = new Set(await admin.listTopics());
    const missing = wanted.filter(({ topic }) => !present.has(topic));
    if (missing.length > 0) await makeTopics(admin, missing, replication);
    const old = wanted.filter(({ topic }) => present.has(topic));
    return { created: missing.map(({ topic }) => topic), differences: await findDifferences(admin, old) };
  } finally {
    await admin.disconnect();
  }
}

/** A broker that does not know of a topic yet, or not of its leaders, is asked again: kafkajs itself gives up at the former. */
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
      // An acknowledged event has to survive the loss of one broker, and a broker may be down for a restart.
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
    const found = topics.find(({ name }) => name === topic)?.partitions.length;
    const entries = resources.find(({ resourceName }) => resourceName === topic)?.configEntries ?? [];
    const told = Object.entries(settings).flatMap(([name, value]) => {
      const actual = entries.find(({ configName }) => configName === name)?.configValue;
      return actual === value ? [] : [`${topic}: ${name} is ${actual}, and should be ${value}`];
    });
    return found === partitions
      ? told
      : [`${topic}: has ${found} partitions, and should have ${partitions}`, ...told];
  });
}
