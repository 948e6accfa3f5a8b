import type { EachBatchPayload } from 'kafkajs';
import { expect, it } from 'vitest';
import { createBatchReader } from '#lib/events/kafka/batch-reader.ts';

/** A reader whose handler fails as long as `failing` holds, and the lags that it reports. */
function startReader() {
  const state = { failing: false, lags: [] as number[] };
  const reader = createBatchReader({
    subscription: {
      topic: 'accord.consents',
      reader: { name: 'test', shared: false, park: async () => {} },
      handler: async () => {},
    } as never,
    applier: { apply: async () => !state.failing },
    metrics: { lag: ({ messages }: { messages: number }) => state.lags.push(messages) } as never,
    onProgress() {},
  });
  return { reader, state };
}

/** A batch of one message. */
function batchOf(partition: number, { offset, end }: { offset: number; end: number }): EachBatchPayload {
  return {
    batch: {
      partition,
      highWatermark: String(end),
      messages: [{ offset: String(offset), headers: {}, value: Buffer.from('{}') }],
    },
    resolveOffset() {},
    heartbeat: async () => {},
    isRunning: () => true,
    isStale: () => false,
    pause: () => () => {},
  } as never;
}

it('the lag grows while the first message of a partition fails', async () => {
  const { reader, state } = startReader();
  state.failing = true;
  await reader.read(batchOf(0, { offset: 7, end: 8 }));
  await reader.read(batchOf(0, { offset: 7, end: 20 }));
  state.failing = false;
  await reader.read(batchOf(0, { offset: 7, end: 20 }));
  expect(state.lags).toEqual([1, 13, 12]);
  await reader.stop();
});

it('the lag of a partition no longer counts when another consumer has got it', async () => {
  const { reader, state } = startReader();
  await reader.read(batchOf(0, { offset: 1, end: 100 }));
  reader.assigned([1]);
  await reader.read(batchOf(1, { offset: 3, end: 5 }));
  expect(state.lags).toEqual([98, 1]);
  await reader.stop();
});
