import { backoffMs } from '#lib/async/timing.ts';
import type { EventApplier, Subscription } from '#lib/events/apply-event.ts';
import { type ConsumerRun, startConsumer } from '#lib/events/kafka/consumer-run.ts';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

/** A subscription and how its consumers are made. */
export interface ReaderOptions {
  /** Creates the client of one consumer. */
  connect(): KafkaConnection;
  /** The group of the next consumer. */
  groupId(): string;
  subscription: Subscription;
  applier: EventApplier;
  log: Logger;
  metrics?: EventMetrics | undefined;
}

/**
 * Reads one topic for one reader with a consumer of its own, so that a missing topic does not affect others.
 */
export interface ReaderLoop {
  start(): void;
  joined(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Pauses between consumers. They are short, because they add to the delay after an outage; an attempt without
 * a broker itself takes half a second.
 */
const pauses = { minMs: 200, maxMs: 2_000 };
/** A consumer that ran for this long counts as healthy, and the next pause is short. */
const steadyMs = 10_000;
const logAgainMs = 30_000;

/**
 * Reads until it is stopped. A consumer that has crashed or makes no progress is replaced. The process does
 * not end, since it has other work and a new process would find the same broker.
 */
export function createReaderLoop(options: ReaderOptions): ReaderLoop {
  const { subscription, log } = options;
  const { topic, reader } = subscription;
  const joined = Promise.withResolvers<void>();
  /** Ends the current wait. One shared promise would leak the results of all waits. */
  let interrupt = () => {};
  let stopped = false;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  function begin(): ConsumerRun {
    const onReading = () => {
      reader.onGap();
      joined.resolve();
    };
    return startConsumer(options, options.connect(), { groupId: options.groupId(), onReading });
  }

  /** Logs the first failure of an outage, and then one every 30 seconds. */
  function logFailure(error: unknown, isNew: boolean): void {
    if (!isNew && performance.now() - loggedAt < logAgainMs) return;
    loggedAt = performance.now();
    log.warn('failed to read a topic; starting a new consumer', { topic, error });
  }

  /** @returns whether more than 10 s passed from the start of the consumer to its end. */
  async function readOnce(): Promise<boolean> {
    const began = performance.now();
    const run = begin();
    const error = await Promise.race([run.failed, interruption()]);
    if (!stopped) {
      logFailure(error, run.hasRead());
      if (run.hasRead()) reader.onGap();
    }
    await run.end();
    return performance.now() - began > steadyMs;
  }

  async function readOn(): Promise<void> {
    let failures = 0;
    while (!stopped) {
      failures = (await readOnce()) ? 0 : failures + 1;
      if (!stopped) await pause(backoffMs(failures + 1, pauses));
    }
  }

  function interruption(): Promise<void> {
    return new Promise((resolve) => {
      interrupt = resolve;
    });
  }

  function pause(ms: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    interrupt = over.resolve;
    return over.promise.finally(() => clearTimeout(timer));
  }

  return {
    start() {
      running = readOn();
    },
    joined: () => joined.promise,
    async stop() {
      stopped = true;
      interrupt();
      await running;
    },
  };
}
