import type { Consumer, ConsumerCrashEvent, EachBatchPayload, Kafka } from 'kafkajs';
import type { EventApplier, Subscription } from '#lib/events/apply-event.ts';
import { retry } from '#lib/events/kafka/kafka-client.ts';
import { readEventId, readMessage } from '#lib/events/kafka/message.ts';
import { createProgressWatchdog, type ProgressWatchdog } from '#lib/events/kafka/progress-watchdog.ts';
import { atMost } from '#lib/lifecycle/at-most.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

interface Options {
  kafka: Kafka;
  groupId: string;
  subscription: Subscription;
  applier: EventApplier;
  log: Logger;
  metrics?: EventMetrics | undefined;
  /** Ends the process: its consumer cannot go on, and a new process can. */
  onFatal(reason: string): void;
}

/** Reads one topic for one reader, in a consumer of its own: a topic that is missing holds up no other. */
export interface ReaderLoop {
  start(): void;
  joined(): Promise<void>;
  stop(): Promise<void>;
}

const standstillMs = 45_000;
const stopMs = 10_000;
const minPauseMs = 100;
const maxPauseMs = 5_000;
const connectAgainMs = 1_000;

export function createReaderLoop(options: Options): ReaderLoop {
  const { kafka, groupId, subscription, log, onFatal } = options;
  const { topic, reader } = subscription;
  const consumer = createConsumer(kafka, groupId, () => !stopped);
  let stopped = false;
  let running: Promise<void> | undefined;
  let watchdog: ProgressWatchdog | undefined;
  const joined = Promise.withResolvers<void>();
  const batches = createBatchReader(options, () => stopped);

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await consumer.connect();
        await consumer.subscribe({ topic, fromBeginning: reader.shared });
        await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: batches.read });
        return;
      } catch (error) {
        watchdog?.note();
        log.warn('Kafka cannot be reached; events wait', { topic, error });
        await pause(connectAgainMs);
      }
    }
  }

  function watch(): void {
    const { events } = consumer;
    watchdog = createProgressWatchdog(standstillMs, () => onFatal(`the consumer of ${topic} stands still`));
    const note = () => watchdog?.note();
    // A broker that is down or hangs shows in crashes and time-outs, which end by themselves: a restart would be no help.
    for (const name of [
      events.FETCH,
      events.HEARTBEAT,
      events.START_BATCH_PROCESS,
      events.END_BATCH_PROCESS,
      events.GROUP_JOIN,
      events.CRASH,
      events.REQUEST_TIMEOUT,
    ])
      consumer.on(name, note);
    consumer.on(events.CRASH, onCrash);
    watchGaps(consumer, () => {
      reader.onGap();
      joined.resolve();
    });
  }

  function onCrash({ payload }: ConsumerCrashEvent): void {
    if (stopped) return;
    log.warn('the consumer of a topic has crashed', { topic, error: payload.error });
    reader.onGap();
    if (!payload.restart) onFatal(`the consumer of ${topic} has crashed for good`);
  }

  return {
    start() {
      watch();
      running = run();
    },
    joined: () => joined.promise,
    async stop() {
      stopped = true;
      watchdog?.stop();
      batches.stop();
      await atMost(stopMs, consumer.stop());
      await atMost(stopMs, consumer.disconnect());
      await atMost(stopMs, running ?? Promise.resolve());
    },
  };
}

function createConsumer(kafka: Kafka, groupId: string, mayRestart: () => boolean): Consumer {
  return kafka.consumer({
    groupId,
    sessionTimeout: 30_000,
    heartbeatInterval: 3_000,
    maxBytesPerPartition: 262_144,
    // Also how long `disconnect` takes.
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    // A consumer that was stopped while it crashed would else come back to life.
    retry: { ...retry, restartOnFailure: async () => mayRestart() },
  });
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

/** Applies batches message by message; nothing that a handler throws gets to kafkajs, which would end without a word. */
function createBatchReader({ subscription, applier, metrics }: Options, isStopped: () => boolean) {
  const { topic, reader } = subscription;
  const lags = new Map<number, number>();
  const failures = new Map<number, number>();
  const timers = new Set<NodeJS.Timeout>();

  function pauseAWhile({ batch, pause: stopFetching }: EachBatchPayload): void {
    const failed = (failures.get(batch.partition) ?? 0) + 1;
    failures.set(batch.partition, failed);
    const resume = stopFetching();
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        resume();
      },
      Math.min(minPauseMs * 2 ** (failed - 1), maxPauseMs),
    );
    timers.add(timer);
  }

  function tellLag({ batch }: EachBatchPayload, offset: string): void {
    lags.set(batch.partition, Number(BigInt(batch.highWatermark) - 1n - BigInt(offset)));
    const messages = [...lags.values()].reduce((sum, each) => sum + each, 0);
    metrics?.lag({ consumer: reader.name, topic, messages });
  }

  async function read(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
    for (const message of batch.messages) {
      if (isStopped() || !isRunning() || isStale()) break;
      const done = await applier.apply(subscription, {
        read: () => readMessage(message),
        place: `${batch.partition}:${message.offset}`,
        eventId: readEventId(message),
      });
      if (!done) {
        pauseAWhile(payload);
        break;
      }
      failures.delete(batch.partition);
      resolveOffset(message.offset);
      tellLag(payload, message.offset);
      await heartbeat();
    }
    // Named offsets: without them, and without auto-commit, kafkajs commits nothing.
    if (reader.shared) await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
  }

  return {
    read,
    stop() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
