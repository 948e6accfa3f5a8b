import type { EachBatchPayload } from 'kafkajs';
import type { EventApplier, Subscription } from '#lib/events/apply-event.ts';
import { readEventId, readMessage } from '#lib/events/kafka/message.ts';
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
  read(payload: EachBatchPayload): Promise<void>;
  /** No further message is applied. Resolves when none is any more. */
  stop(): Promise<void>;
}

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
  let stopped = false;

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

  async function read(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
    for (const [index, message] of batch.messages.entries()) {
      if (stopped || !isRunning() || isStale()) break;
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
    // Named offsets: without them, and without auto-commit, kafkajs commits nothing.
    if (reader.shared) await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
  }

  return {
    read,
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(applying);
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
