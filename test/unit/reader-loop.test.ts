import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import { createReaderLoop } from '#lib/events/kafka/reader-loop.ts';
import { createLogger } from '#lib/observability/logger.ts';

type Listener = (event: { payload: unknown }) => void;

const eventNames = [
  'CONNECT',
  'FETCH',
  'HEARTBEAT',
  'START_BATCH_PROCESS',
  'END_BATCH_PROCESS',
  'GROUP_JOIN',
  'REBALANCING',
  'REQUEST',
  'REQUEST_TIMEOUT',
  'CRASH',
];

/** A consumer that does what it is told to, as kafkajs might. */
function makeConsumer(groupId: string) {
  const listeners = new Map<string, Listener[]>();
  const made = {
    groupId,
    cuts: 0,
    left: 0,
    hangs: false,
    eachBatch: undefined as ((payload: EachBatchPayload) => Promise<void>) | undefined,
    tell(name: string, payload: unknown = {}) {
      for (const listener of listeners.get(name) ?? []) listener({ payload });
    },
    /** Joins its group and asks for messages. */
    read() {
      made.tell('GROUP_JOIN', { memberAssignment: {} });
      made.tell('FETCH');
    },
    consumer: {
      events: Object.fromEntries(eventNames.map((name) => [name, name])),
      on: (name: string, listener: Listener) => {
        listeners.set(name, [...(listeners.get(name) ?? []), listener]);
      },
      connect: async () => {},
      subscribe: async () => {},
      async run({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }) {
        made.eachBatch = eachBatch;
      },
      disconnect() {
        made.left += 1;
        return made.hangs ? new Promise<void>(() => {}) : Promise.resolve();
      },
    } as unknown as Consumer,
  };
  return made;
}

function makeLoop() {
  const consumers: ReturnType<typeof makeConsumer>[] = [];
  const gaps = vi.fn();
  const connect = (): KafkaConnection => ({
    kafka: {
      consumer: ({ groupId }: { groupId: string }) => {
        consumers.push(makeConsumer(groupId));
        return consumers.at(-1)?.consumer;
      },
    } as unknown as Kafka,
    cut() {
      const last = consumers.at(-1);
      if (last) last.cuts += 1;
    },
  });
  const apply = vi.fn(async () => true);
  const loop = createReaderLoop({
    connect,
    groupId: () => `group-${consumers.length}`,
    subscription: {
      topic: 'accord.peers',
      reader: { name: 'test', shared: true, park: async () => {}, onGap: gaps },
      handler: async () => {},
    },
    applier: { apply },
    log: createLogger({ level: 'silent' }),
  });
  return { loop, consumers, gaps, apply };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a reader of a topic', () => {
  test.each([
    ['that kafkajs would start again', true],
    ['that kafkajs gives up for good', false],
  ])('goes on with a new consumer after a crash %s', async (_which, restart) => {
    const { loop, consumers, gaps } = makeLoop();
    loop.start();
    await pass(0);
    consumers[0]?.read();
    expect(gaps).toHaveBeenCalledTimes(1);
    consumers[0]?.tell('CRASH', { error: new Error('Failed to find group coordinator'), restart });
    await pass(2_000);
    expect(consumers.map(({ groupId }) => groupId)).toEqual(['group-0', 'group-1']);
    expect(consumers[0]).toMatchObject({ left: 1, cuts: 1 });
    expect(gaps, 'it may have missed something').toHaveBeenCalledTimes(2);
    consumers[1]?.read();
    await loop.joined();
    await loop.stop();
    await pass(60_000);
    expect(consumers.length).toBe(2);
  });

  test('connects again every two seconds while no broker is available', async () => {
    const { loop, consumers } = makeLoop();
    loop.start();
    for (let second = 0; second < 60; second += 1) {
      consumers.at(-1)?.tell('CRASH', { error: new Error('Connection error') });
      await pass(1_000);
    }
    expect(consumers.length).toBeGreaterThan(25);
    expect(consumers.length).toBeLessThan(45);
    await loop.stop();
  });

  test('replaces a consumer that hangs and cannot be stopped', async () => {
    const { loop, consumers } = makeLoop();
    loop.start();
    await pass(0);
    consumers[0]?.read();
    Object.assign(consumers[0] as object, { hangs: true });
    await pass(44_000);
    expect(consumers.length).toBe(1);
    await pass(10_000);
    expect(consumers.length).toBe(2);
    expect(consumers[0]).toMatchObject({ left: 1, cuts: 1 });
    await loop.stop();
  });

  test.each([
    ['a quiet topic', 'FETCH', 5],
    ['a rebalance', 'REBALANCING', 15],
    ['a broker that answers nothing', 'REQUEST_TIMEOUT', 15],
    ['a broker that comes and goes', 'CONNECT', 40],
  ])('takes %s for no standstill', async (_what, sign, everySeconds) => {
    const { loop, consumers } = makeLoop();
    loop.start();
    await pass(0);
    for (let minute = 0; minute < 10; minute += 1) {
      await pass(everySeconds * 1_000);
      consumers[0]?.tell(sign);
    }
    expect(consumers.length).toBe(1);
    await loop.stop();
  });

  test('stops within 2 seconds while Kafka does not respond, and at once between two attempts', async () => {
    const { loop, consumers } = makeLoop();
    loop.start();
    await pass(0);
    Object.assign(consumers[0] as object, { hangs: true });
    const ended = vi.fn();
    void loop.stop().then(ended);
    await pass(2_000);
    expect(ended).toHaveBeenCalledOnce();
    expect(consumers[0]).toMatchObject({ left: 1, cuts: 1 });

    const other = makeLoop();
    other.loop.start();
    await pass(0);
    other.consumers[0]?.tell('CRASH', { error: new Error('Connection error') });
    await pass(1);
    await other.loop.stop();
    expect(other.consumers.length).toBe(1);
  });

  test('keeps its session while an event waits for PostgreSQL', async () => {
    const { loop, consumers, apply } = makeLoop();
    const applied = Promise.withResolvers<boolean>();
    apply.mockReturnValueOnce(applied.promise);
    loop.start();
    await pass(0);
    const heartbeat = vi.fn(async () => {});
    const read = consumers[0]?.eachBatch?.({
      batch: { partition: 0, highWatermark: '1', messages: [{ offset: '0', value: null }] },
      heartbeat,
      resolveOffset: () => {},
      isRunning: () => true,
      isStale: () => false,
      uncommittedOffsets: () => ({ topics: [] }),
      commitOffsetsIfNecessary: async () => {},
    } as unknown as EachBatchPayload);
    await pass(5_000);
    expect(heartbeat).toHaveBeenCalledTimes(5);
    applied.resolve(true);
    await read;
    await loop.stop();
  });
});
