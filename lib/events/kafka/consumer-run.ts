import type { Consumer, ConsumerCrashEvent, Kafka } from 'kafkajs';
import { settleWithin } from '#lib/async/timing.ts';
import { createBatchReader } from '#lib/events/kafka/batch-reader.ts';
import { type KafkaConnection, retry } from '#lib/events/kafka/kafka-client.ts';
import { createProgressWatchdog } from '#lib/events/kafka/progress-watchdog.ts';
import type { ReaderOptions } from '#lib/events/kafka/reader-loop.ts';

/** One life of a consumer of kafkajs. */
export interface ConsumerRun {
  /** Resolves with the reason when it has ended by itself, or does nothing any more. */
  failed: Promise<unknown>;
  /** Whether it has read since it joined its group. */
  hasRead(): boolean;
  /** Ends it for good, whatever state it is in: when it resolves no handler runs and no connection is left. */
  end(): Promise<void>;
}

/** A replica that was killed, or whose broker was, holds its partitions for so long: the least that brokers allow by default. */
const sessionMs = 6_000;
const heartbeatMs = 1_500;
/** Others wait for so long for one that does not come back; a member asks for a little longer, and is no standstill. */
const rebalanceMs = 10_000;
const standstillMs = 45_000;
const handlerMs = 10_000;
const leaveMs = 2_000;

export function startConsumer(
  { subscription, applier, metrics }: ReaderOptions,
  { kafka, cut }: KafkaConnection,
  { groupId, onReading }: { groupId: string; onReading(): void },
): ConsumerRun {
  const { topic, reader } = subscription;
  const failed = Promise.withResolvers<unknown>();
  const consumer = createConsumer(kafka, groupId);
  const watchdog = createProgressWatchdog(standstillMs, () =>
    failed.resolve(new Error('The consumer does nothing any more.')),
  );
  const batches = createBatchReader({ subscription, applier, metrics, onProgress: watchdog.note });
  let reads = false;
  for (const name of signsOfLife(consumer)) consumer.on(name, watchdog.note);
  consumer.on(consumer.events.FETCH, batches.fetched);
  consumer.on(consumer.events.CRASH, ({ payload }: ConsumerCrashEvent) => failed.resolve(payload.error));
  watchGaps(consumer, () => {
    reads = true;
    onReading();
  });

  async function run(): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: reader.shared });
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: batches.read });
  }
  run().catch(failed.resolve);

  return {
    failed: failed.promise,
    hasRead: () => reads,
    async end() {
      watchdog.stop();
      await settleWithin(handlerMs, batches.stop());
      // Who leaves gives its partitions to the others at once. Where Kafka does not answer they wait for the session to end.
      await settleWithin(leaveMs, consumer.disconnect());
      cut();
    },
  };
}

function createConsumer(kafka: Kafka, groupId: string): Consumer {
  return kafka.consumer({
    groupId,
    sessionTimeout: sessionMs,
    rebalanceTimeout: rebalanceMs,
    heartbeatInterval: heartbeatMs,
    maxBytesPerPartition: 262_144,
    // Also how long `disconnect` takes.
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    // Whoever holds the run starts the next one: of crashes kafkajs restarts some and leaves others, and a stop in between it forgets.
    retry: { ...retry, restartOnFailure: async () => false },
  });
}

/** Whatever shows that it does something, or that its waiting comes to an end: a quiet topic, a rebalance and a broker that is away do. */
function signsOfLife({ events }: Consumer) {
  return [
    events.CONNECT,
    events.FETCH,
    events.HEARTBEAT,
    events.START_BATCH_PROCESS,
    events.END_BATCH_PROCESS,
    events.GROUP_JOIN,
    events.REBALANCING,
    events.REQUEST,
    events.REQUEST_TIMEOUT,
  ] as const;
}

/** After a join, offsets are known with the first answer: from then on nothing that is published is missed. */
function watchGaps(consumer: Consumer, onGapEnded: () => void): void {
  let ended = true;
  consumer.on(consumer.events.GROUP_JOIN, () => {
    ended = false;
  });
  consumer.on(consumer.events.FETCH, () => {
    if (ended) return;
    ended = true;
    onGapEnded();
  });
}
