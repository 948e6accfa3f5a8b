import { setTimeout as wait } from 'node:timers/promises';
import type { EachBatchPayload } from 'kafkajs';
import type { EventApplier, Subscription } from '#lib/events/apply-event.ts';
import { readEventId, readMessage } from '#lib/events/kafka/message.ts';
import { createOffsetCommits } from '#lib/events/kafka/offset-commits.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

interface Options {
  subscription: Subscription;
  applier: EventApplier;
  metrics?: EventMetrics | undefined;
  /** A message has been dealt with, one way or the other. */
  onProgress(): void;
}

/** What a consumer does with the batches that it gets. */
export interface BatchReader {
  /** To be called with each answer of the broker, before its batches are read. */
  fetched(): void;
  read(payload: EachBatchPayload): Promise<void>;
  /** No further message is applied. Resolves when none is any more, and what was applied is committed. */
  stop(): Promise<void>;
}

/** Where events follow closely, so many milliseconds of them are read at once: asking for each would cost more than applying it. */
const lingerMs = 50;
/**
 * For so long a batch is worked at, if it has more than one message: all partitions have their turn, and the broker is asked soon again, which tells of
 * a topic that was lost (outbox-relay.ts).
 */
const sliceMs = 250;
const minPauseMs = 100;
const maxPauseMs = 5_000;
const beatMs = 1_000;
/** Longer than everything that a handler may wait for together; one that hangs must not keep its partitions. */
const beatAtMostMs = 30_000;

/** Applies batches message by message; nothing that a handler throws gets to kafkajs, which would end without a word. */
export function createBatchReader({ subscription, applier, metrics, onProgress }: Options): BatchReader {
  const { topic, reader } = subscription;
  const lags = new Map<number, number>();
  const failures = new Map<number, number>();
  const timers = new Set<NodeJS.Timeout>();
  const applying = new Set<Promise<unknown>>();
  const commits = createOffsetCommits();
  let stopped = false;
  let arrivedAt = 0;
  let gathered = true;
  let nextRead = 0;

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

  /** Waits before the batches of an answer that came soon after another one, so that there is more in the next. */
  async function gather(): Promise<void> {
    if (gathered) return;
    gathered = true;
    const early = nextRead - performance.now();
    if (early > 0) await wait(early);
    nextRead = performance.now() + lingerMs;
  }

  async function read(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
    await gather();
    const until = performance.now() + sliceMs;
    for (const [index, message] of batch.messages.entries()) {
      if (stopped || !isRunning() || isStale() || (index > 0 && performance.now() > until)) break;
      const done = await apply(payload, index);
      if (!done) {
        pauseAWhile(payload);
        break;
      }
      failures.delete(batch.partition);
      resolveOffset(message.offset);
      tellLag(payload, message.offset);
      await heartbeat();
    }
    if (reader.shared) commits.soon(payload);
  }

  return {
    fetched() {
      arrivedAt = performance.now();
      gathered = false;
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

/** A handler that waits for PostgreSQL must not cost the consumer its session, which is short. What goes wrong shows at the next heartbeat. */
function beatWhile(heartbeat: () => Promise<void>): () => void {
  const began = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - began < beatAtMostMs) heartbeat().catch(() => {});
  }, beatMs);
  return () => clearInterval(timer);
}
