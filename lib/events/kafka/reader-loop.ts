import type { EventApplier, Subscription } from '#lib/events/apply-event.ts';
import { type ConsumerRun, startConsumer } from '#lib/events/kafka/consumer-run.ts';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

/** Who reads what. */
export interface ReaderOptions {
  /** Makes a client for one consumer. */
  connect(): KafkaConnection;
  /** Of the next consumer. */
  groupId(): string;
  subscription: Subscription;
  applier: EventApplier;
  log: Logger;
  metrics?: EventMetrics | undefined;
}

/** Reads one topic for one reader, in a consumer of its own: a topic that is missing holds up no other. */
export interface ReaderLoop {
  start(): void;
  joined(): Promise<void>;
  stop(): Promise<void>;
}

/** Short, because what has waited for Kafka waits for this too; a try at a broker that is away takes half a second by itself. */
const minPauseMs = 200;
const maxPauseMs = 2_000;
/** A consumer that has lived for so long was well. */
const steadyMs = 10_000;
const tellAgainMs = 30_000;

/**
 * Reads until it is stopped: a consumer that has crashed, for whatever reason, or that does nothing any more is replaced by a new one. Kafka in
 * trouble is no reason to end a process, which does other things and would find the same Kafka when it is back.
 */
export function createReaderLoop(options: ReaderOptions): ReaderLoop {
  const { subscription, log } = options;
  const { topic, reader } = subscription;
  const joined = Promise.withResolvers<void>();
  /** Ends the wait that is under way. A promise for all of them would hold on to what each has ended with. */
  let interrupt = () => {};
  let stopped = false;
  let toldAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  function begin(): ConsumerRun {
    const onReading = () => {
      reader.onGap();
      joined.resolve();
    };
    return startConsumer(options, options.connect(), { groupId: options.groupId(), onReading });
  }

  /** Once, and now and then while it lasts: while a broker is away each try fails. */
  function tell(error: unknown, isNew: boolean): void {
    if (!isNew && performance.now() - toldAt < tellAgainMs) return;
    toldAt = performance.now();
    log.warn('events of a topic cannot be read; a new consumer begins', { topic, error });
  }

  /** @returns whether it was well for a while. */
  async function readOnce(): Promise<boolean> {
    const began = performance.now();
    const run = begin();
    const error = await Promise.race([run.failed, interruption()]);
    if (!stopped) {
      tell(error, run.hasRead());
      if (run.hasRead()) reader.onGap();
    }
    await run.end();
    return performance.now() - began > steadyMs;
  }

  async function readOn(): Promise<void> {
    let failures = 0;
    while (!stopped) {
      failures = (await readOnce()) ? 0 : failures + 1;
      if (!stopped) await pause(Math.min(minPauseMs * 2 ** failures, maxPauseMs));
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
