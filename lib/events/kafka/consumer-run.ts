import type { Consumer, ConsumerCrashEvent, Kafka } from 'kafkajs';
import { settleWithin } from '#lib/async/timing.ts';
import { createBatchReader } from '#lib/events/kafka/batch-reader.ts';
import { type KafkaConnection, retry } from '#lib/events/kafka/kafka-client.ts';
import type { ReaderOptions } from '#lib/events/kafka/reader-loop.ts';

/** One consumer of kafkajs, from its start to its end. */
export interface ConsumerRun {
  /** Resolves with the reason when the consumer has failed or makes no progress. */
  failed: Promise<unknown>;
  /** Whether the consumer has received a response since it joined its group. */
  hasRead(): boolean;
  /**
   * Ends the consumer in any state. Waits for the running handler, at most 10 s; then no connection is open.
   */
  end(): Promise<void>;
}

/** How long a killed replica keeps its partitions: the least that brokers allow by default. */
const sessionMs = 6_000;
const heartbeatMs = 1_500;
/** How long a rebalance waits for a member that does not rejoin. */
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
    failed.resolve(new Error('The consumer makes no progress.')),
  );
  const batches = createBatchReader({ subscription, applier, metrics, onProgress: watchdog.note });
  let reads = false;
  for (const name of signsOfLife(consumer)) consumer.on(name, watchdog.note);
  consumer.on(consumer.events.FETCH, batches.fetched);
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
    batches.assigned(payload.memberAssignment[topic] ?? []),
  );
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
      // Leaving the group frees its partitions at once. If Kafka does not answer, they are freed with the
      // session.
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
    // This is also how long `disconnect` takes.
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    // The reader loop starts the next run: kafkajs restarts only after some crashes, and then ignores a stop
    // during the restart.
    retry: { ...retry, restartOnFailure: async () => false },
  });
}

/**
 * Events that show progress, or a wait that will end: on a quiet topic, in a rebalance, or without a broker.
 */
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

/** Offsets are known with the first response after a join; from then on no published event is missed. */
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

/** Detects a client that makes no progress. */
export interface ProgressWatchdog {
  /** Records progress. */
  note(): void;
  stop(): void;
}

/**
 * Calls `onStandstill` if no progress is recorded for `ms`. Otherwise a consumer whose loop has ended
 * silently would look like an idle one.
 */
export function createProgressWatchdog(ms: number, onStandstill: () => void): ProgressWatchdog {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // After the process itself was suspended, the client gets the full time again.
    const wasSuspended = now - checked > 2 * checkMs;
    checked = now;
    if (wasSuspended) last = now;
    if (now - last > ms) {
      clearInterval(timer);
      onStandstill();
    }
  }, checkMs);
  let checked = last;
  timer.unref();
  return {
    note() {
      last = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}

const checkMs = 1_000;
