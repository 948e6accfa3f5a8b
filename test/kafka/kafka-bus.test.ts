import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EventApplier } from '#lib/events/apply-event.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createKafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import { createReaderLoop } from '#lib/events/kafka/reader-loop.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { keyRevoked, outbound, sampleEvent } from '../support/samples/sample-events.ts';
import { describeEventBus, publishAll, testReader } from '../support/stores/event-bus-suite.ts';
import { brokers, findRaw, makeKafkaBus, withAdmin, writeRaw } from '../support/stores/kafka.ts';

describe.skipIf(!brokers)('on Kafka', () => {
  describeEventBus('by Kafka', () => makeKafkaBus());

  const buses: EventBus[] = [];
  afterEach(async () => void (await Promise.all(buses.splice(0).map((bus) => bus.stop()))));
  async function running(prepare: (bus: EventBus) => void): Promise<EventBus> {
    const bus = makeKafkaBus();
    buses.push(bus);
    prepare(bus);
    bus.start();
    await bus.joined();
    return bus;
  }

  test('events of a host whose clock is hours ahead are taken as those of any other', async () => {
    const bus = await running(() => {});
    const now = Date.now.bind(Date);
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 2 * 3_600_000);
    onTestFinished(() => void clock.mockRestore());
    expect(await bus.publish([outbound()])).toEqual([]);
  });

  test('replicas share the events of their service: each is applied by one of them', async () => {
    const sent = Array.from({ length: 60 }, (_, index) => outbound(sampleEvent({ subject: `t${index}` })));
    const wanted = new Set(sent.map(({ event }) => event.id));
    const applied: string[][] = [[], []];
    const name = `shared-${randomUUID()}`;
    const replicas = await Promise.all(
      applied.map((into) =>
        running((bus) =>
          bus.subscribe(
            'accord.consents',
            testReader({ name }),
            async ({ id }) => void (wanted.has(id) && into.push(id)),
          ),
        ),
      ),
    );
    await expect
      .poll(
        () => withAdmin(async (admin) => (await admin.describeGroups([`accord.consents.${name}`])).groups[0]),
        { timeout: 20_000 },
      )
      .toMatchObject({ state: 'Stable', members: [{}, {}] });
    await publishAll(replicas[0] as EventBus, sent);
    await expect.poll(() => applied.flat().length).toBe(sent.length);
    expect(new Set(applied.flat()).size).toBe(sent.length);
    expect(applied.every((each) => each.length > 0)).toBe(true);
  });

  test('each replica gets every event of a topic that it keeps something of, and none from before it ran', async () => {
    const before = keyRevoked();
    const sent = keyRevoked();
    const applied: string[][] = [[], []];
    await publishAll(await running(() => {}), [before]);
    const [bus] = await Promise.all(
      applied.map((into) =>
        running((made) =>
          made.subscribe('accord.keys', testReader({ shared: false }), async ({ id }) => void into.push(id)),
        ),
      ),
    );
    await publishAll(bus as EventBus, [sent]);
    await expect.poll(() => applied.every((each) => each.includes(sent.event.id))).toBe(true);
    expect(applied.flat()).not.toContain(before.event.id);
  });

  test('a replica is told that it may have missed events when it begins to read', async () => {
    const gaps: number[] = [];
    const reader = { ...testReader({ shared: false }), onGap: () => gaps.push(1) };
    await running((bus) => bus.subscribe('accord.keys', reader, async () => {}));
    expect(gaps.length).toBe(1);
  });

  test('events that arrive while no replica runs are applied once by the next one', async () => {
    const [first, second] = [outbound(), outbound()];
    const wanted = new Set([first, second].map(({ event }) => event.id));
    const name = `later-${randomUUID()}`;
    const applied: string[] = [];
    const subscribe = (bus: EventBus) =>
      bus.subscribe(
        'accord.consents',
        testReader({ name }),
        async ({ id }) => void (wanted.has(id) && applied.push(id)),
      );
    const one = await running(subscribe);
    await publishAll(one, [first]);
    await expect.poll(() => applied).toEqual([first.event.id]);
    await one.stopReading();
    await publishAll(one, [second]);
    await running(subscribe);
    await expect.poll(() => applied).toEqual([first.event.id, second.event.id]);
  });

  test('an event is a CloudEvent in binary mode, keyed by what it is about', async () => {
    const { event } = outbound(sampleEvent({ subject: randomUUID(), requestid: 'request-0123456789' }));
    await publishAll(await running(() => {}), [outbound(event)]);
    const { key, value, headers } = await findRaw(
      'accord.consents',
      (each) => each.key?.toString() === event.subject,
    );
    expect(key?.toString()).toBe(event.subject);
    expect(JSON.parse(value?.toString() ?? '')).toEqual(event.data);
    expect(
      Object.fromEntries(Object.entries(headers ?? {}).map(([name, each]) => [name, each?.toString()])),
    ).toEqual({
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: event.type,
      ce_source: event.source,
      ce_subject: event.subject,
      ce_time: event.time,
      ce_requestid: 'request-0123456789',
      'content-type': 'application/json',
    });
  });

  test('invalid messages are stored as dead letters, and the following ones are applied', async () => {
    const id = randomUUID();
    const good = outbound();
    const headersOf = (event = sampleEvent()) => ({
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: event.type,
      ce_source: event.source,
      ce_subject: event.subject,
      ce_time: event.time,
    });
    const key = 'poison';
    const value = JSON.stringify(good.event.data);
    const reader = testReader();
    const applied: string[] = [];
    const bus = await running((made) =>
      made.subscribe(
        'accord.consents',
        reader,
        async (event) => void (event.id === good.event.id && applied.push(event.id)),
      ),
    );
    await writeRaw('accord.consents', [
      { key, value: '{' },
      { key, value: null },
      { key, value: '{', headers: headersOf(sampleEvent({ id })) },
      { key, value, headers: headersOf(sampleEvent({ id, type: 'io.accord.consent.created.v2' })) },
      { key, value, headers: { ...headersOf(), ce_specversion: '2.0' } },
      { key, value: '[]', headers: headersOf() },
      { key, value, headers: { ...headersOf(), ce_time: 'yesterday' } },
      { key, value, headers: { ...headersOf(), ce_id: 'not an id: "secret"' } },
    ]);
    await publishAll(bus, [{ ...good, key }]);
    await expect.poll(() => applied).toEqual([good.event.id]);
    expect(reader.parked.filter((letter) => letter.eventId === id)).toMatchObject([
      { reason: 'Its value is not JSON.' },
      { reason: 'asyncapi.yaml has no such event in this topic', type: 'io.accord.consent.created.v2' },
    ]);
    expect(new Set(reader.parked.map(({ place }) => place)).size).toBeGreaterThanOrEqual(8);
    expect(JSON.stringify(reader.parked)).not.toContain('secret');
  });

  test('a crashed consumer is replaced and continues', async () => {
    const sent = keyRevoked();
    let applied = 0;
    const applier: EventApplier = {
      async apply(_subscription, { eventId }) {
        if (eventId !== sent.event.id) return true;
        applied += 1;
        if (applied === 1) throw new SyntaxError('what no handler can do, because it is caught');
        return true;
      },
    };
    const groupId = `crash-${randomUUID()}`;
    const loop = createReaderLoop({
      connect: () => createKafkaConnection({ brokers: [brokers ?? ''], clientId: 'test' }),
      groupId: () => groupId,
      subscription: { topic: 'accord.keys', reader: testReader(), handler: async () => {} },
      applier,
      log: createLogger({ level: 'silent' }),
    });
    onTestFinished(loop.stop);
    await publishAll(await running(() => {}), [sent]);
    loop.start();
    await expect.poll(() => applied, { timeout: 60_000 }).toBe(2);
  });
});
