import { setTimeout as wait } from 'node:timers/promises';
import type { EachBatchPayload } from 'kafkajs';
import { backoffMs, settleWithin } from '#lib/async/timing.ts';
import type { EventApplier, Subscription } from '#lib/events/apply-event.ts';
import { readEventId, readMessage } from '#lib/events/kafka/message.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

interface Options {
  subscription: Subscription;
  applier: EventApplier;
  metrics?: EventMetrics | undefined;
  /** Called when a message was applied, stored as a dead letter or failed. */
  onProgress(): void;
}

/** Processes the batches of a consumer. */
export interface BatchReader {
  /** Call when the consumer has joined its group. The lag counts only these partitions from then on. */
  assigned(partitions: readonly number[]): void;
  /** Call at each response of the broker, before its batches are read. */
  fetched(): void;
  read(payload: EachBatchPayload): Promise<void>;
  /** Applies no further message. Resolves when no handler runs and the applied messages are committed. */
  stop(): Promise<void>;
}

/**
 * Minimum time between reads while events keep coming: fetching each by itself costs more than applying it.
 */
const lingerMs = 50;
/**
 * Time limit for one batch, after its first message: other partitions get their turn, and the broker is asked
 * again soon, which reveals a lost topic (docs/operations.md).
 */
const sliceMs = 250;
const beatMs = 1_000;
/** Longer than all time-outs of a handler together; a handler that hangs must not keep its partitions. */
const maxHeartbeatsMs = 30_000;

/** Applies batches message by message. Errors of handlers never reach kafkajs, which would stop silently. */
export function createBatchReader({ subscription, applier, metrics, onProgress }: Options): BatchReader {
  const { topic, reader } = subscription;
  const lags = new Map<number, number>();
  const failures = new Map<number, number>();
  const timers = new Set<NodeJS.Timeout>();
  const applying = new Set<Promise<unknown>>();
  const commits = createOffsetCommits();
  let stopped = false;
  let arrivedAt = 0;
  let hasLingered = true;
  let nextRead = 0;

  function pausePartition({ batch, pause }: EachBatchPayload): void {
    const failed = (failures.get(batch.partition) ?? 0) + 1;
    failures.set(batch.partition, failed);
    const resume = pause();
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        resume();
      },
      backoffMs(failed, { minMs: 100, maxMs: 5_000 }),
    );
    timers.add(timer);
  }

  /** @param next offset of the next message to be applied. */
  function reportLag({ batch }: EachBatchPayload, next: bigint): void {
    lags.set(batch.partition, Number(BigInt(batch.highWatermark) - next));
    const messages = [...lags.values()].reduce((sum, each) => sum + each, 0);
    metrics?.lag({ consumer: reader.name, topic, messages });
  }

  async function apply({ batch, heartbeat }: EachBatchPayload, index: number): Promise<boolean> {
    const message = batch.messages[index] as EachBatchPayload['batch']['messages'][number];
    const work = applier.apply(subscription, {
      read: () => readMessage(message),
      place: `${batch.partition}:${message.offset}`,
      eventId: readEventId(message),
      arrivedAt,
    });
    applying.add(work);
    const endBeats = beatWhile(heartbeat);
    try {
      return await work;
    } finally {
      endBeats();
      applying.delete(work);
      onProgress();
    }
  }

  /**
   * Waits before the batches of a response are read, if it follows the last response closely: the next
   * response then contains more events.
   */
  async function linger(): Promise<void> {
    if (hasLingered) return;
    hasLingered = true;
    const early = nextRead - performance.now();
    if (early > 0) await wait(early);
    nextRead = performance.now() + lingerMs;
  }

  async function read(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
    await linger();
    const until = performance.now() + sliceMs;
    for (const [index, message] of batch.messages.entries()) {
      if (stopped || !isRunning() || isStale() || (index > 0 && performance.now() > until)) break;
      const done = await apply(payload, index);
      const offset = BigInt(message.offset);
      reportLag(payload, done ? offset + 1n : offset);
      if (!done) {
        pausePartition(payload);
        break;
      }
      failures.delete(batch.partition);
      resolveOffset(message.offset);
      await heartbeat();
    }
    if (reader.shared) commits.soon(payload);
  }

  return {
    assigned(partitions) {
      for (const partition of lags.keys()) if (!partitions.includes(partition)) lags.delete(partition);
    },
    fetched() {
      arrivedAt = performance.now();
      hasLingered = false;
    },
    read,
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(applying);
      await commits.end();
    },
  };
}

/**
 * Keeps the consumer's session alive while a handler waits for PostgreSQL. An error shows at the next
 * heartbeat.
 */
function beatWhile(heartbeat: () => Promise<void>): () => void {
  const began = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - began < maxHeartbeatsMs) heartbeat().catch(() => {});
  }, beatMs);
  return () => clearInterval(timer);
}

/** Commits the offsets of a consumer group in batches. */
interface OffsetCommits {
  /** Commits the resolved offsets of a batch soon, together with those of other batches. */
  soon(payload: EachBatchPayload): void;
  /** Commits the rest, if the broker answers in time. */
  end(): Promise<void>;
}

/**
 * Interval of commits, because single commits are expensive. Events that are not committed when a consumer
 * dies are delivered again.
 */
const everyMs = 200;
const endMs = 1_000;

function createOffsetCommits(): OffsetCommits {
  let latest: EachBatchPayload | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function commit(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const payload = latest;
    latest = undefined;
    // Explicit offsets, because without auto-commit kafkajs commits none by itself. They include all
    // partitions.
    await payload?.commitOffsetsIfNecessary(payload.uncommittedOffsets());
  }

  return {
    soon(payload) {
      latest = payload;
      // Commits fail in a rebalance. The next one includes these offsets, or their events are read again.
      timer ??= setTimeout(() => void commit().catch(() => {}), everyMs);
    },
    end: () => settleWithin(endMs, commit()),
  };
}
