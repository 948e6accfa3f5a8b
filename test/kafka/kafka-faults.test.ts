import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { startLocalKafka } from '../infrastructure/kafka.ts';
import type { LocalServer } from '../infrastructure/local-server.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { keyRevoked, outbound, sampleEvent } from '../support/samples/sample-events.ts';
import { publishAll, testReader } from '../support/stores/event-bus-suite.ts';
import { brokers, makeKafkaBus, ownKafka, withAdmin } from '../support/stores/kafka.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const asyncApi = new URL('../../asyncapi.yaml', import.meta.url);

// A broker that faults are done to is nobody else's.
describe.skipIf(!brokers)('events while Kafka is in trouble', () => {
  let kafka: LocalServer;
  const buses: EventBus[] = [];

  beforeAll(async () => {
    kafka = ownKafka ?? (await startLocalKafka());
    await createTopics({ brokers: [kafka.address], wanted: readTopics(asyncApi) });
  });
  afterEach(async () => void (await Promise.all(buses.splice(0).map((bus) => bus.stop()))));
  afterAll(() => (ownKafka ? undefined : kafka?.stop()));

  /** A bus that reads accord.consents and accord.keys; what has come of each. */
  function start(name = `faults-${randomUUID()}`) {
    const came = { consents: new Set<string>(), keys: new Set<string>(), gaps: 0 };
    const bus = makeKafkaBus({ address: kafka.address });
    buses.push(bus);
    const forget = () => {
      came.gaps += 1;
    };
    bus.subscribe('accord.consents', testReader({ name }), async ({ id }) => void came.consents.add(id));
    bus.subscribe(
      'accord.keys',
      { ...testReader({ name, shared: false }), onGap: forget },
      async ({ id }) => void came.keys.add(id),
    );
    bus.start();
    return { bus, came, name };
  }

  test('events are not acknowledged while the broker is down, and arrive when it is back', {
    timeout: 120_000,
  }, async () => {
    const { bus, came } = start();
    await bus.joined();
    const gapsBefore = came.gaps;
    await publishAll(bus, [outbound()]);
    await kafka.kill();
    const sent = [outbound(), outbound(), keyRevoked()];
    expect(await bus.publish(sent)).toMatchObject(
      sent.map(({ event }) => ({ id: event.id, permanent: false })),
    );
    await kafka.launch();
    await publishAll(bus, sent);
    await expect
      .poll(() => sent.slice(0, 2).every(({ event }) => came.consents.has(event.id)), { timeout: 60_000 })
      .toBe(true);
    await expect.poll(() => came.gaps, { timeout: 60_000 }).toBeGreaterThan(gapsBefore);
  });

  test('a process starts without a broker and reads when it is available', {
    timeout: 120_000,
  }, async () => {
    await kafka.kill();
    const { bus, came } = start();
    const sent = [outbound()];
    expect(await bus.publish(sent)).toHaveLength(1);
    await kafka.launch();
    await bus.joined();
    await publishAll(bus, sent);
    await expect.poll(() => came.consents.has(sent[0]?.event.id ?? ''), { timeout: 60_000 }).toBe(true);
  });

  test('publishing and stopping are bounded while the broker hangs', { timeout: 120_000 }, async () => {
    const { bus, name } = start();
    await bus.joined();
    const sent = [outbound()];
    kafka.pause();
    const began = performance.now();
    expect(await bus.publish(sent)).toMatchObject([{ permanent: false }]);
    expect(performance.now() - began).toBeLessThan(27_000);
    const stopped = performance.now();
    await bus.stop();
    expect(performance.now() - stopped).toBeLessThan(10_000);
    kafka.resume();
    const next = start(name);
    await next.bus.joined();
    await publishAll(next.bus, sent);
    await expect.poll(() => next.came.consents.has(sent[0]?.event.id ?? ''), { timeout: 60_000 }).toBe(true);
  });

  test('events of a deleted topic wait, those of other topics are published, and a recreated topic is read', {
    timeout: 180_000,
  }, async () => {
    const { bus, came } = start();
    await bus.joined();
    const before = Array.from({ length: 30 }, () => outbound());
    await publishAll(bus, before);
    await expect.poll(() => before.every(({ event }) => came.consents.has(event.id))).toBe(true);
    await withAdmin((admin) => admin.deleteTopics({ topics: ['accord.consents'] }), kafka.address);
    const [waiting, going] = [outbound(), keyRevoked()];
    const unsent = await bus.publish([waiting, going]);
    expect(unsent).toMatchObject([{ id: waiting.event.id, permanent: false }]);
    await expect.poll(() => came.keys.has(going.event.id), { timeout: 60_000 }).toBe(true);
    const { created } = await createTopics({ brokers: [kafka.address], wanted: readTopics(asyncApi) });
    expect(created).toEqual(['accord.consents']);
    await publishAll(bus, [waiting]);
    await expect.poll(() => came.consents.has(waiting.event.id), { timeout: 90_000 }).toBe(true);
  });

  test('npm run topics -- --refill publishes the events of a lost topic again', {
    timeout: 120_000,
  }, async () => {
    const database = await createTestDatabase();
    const log = createLogger({ level: 'silent' });
    const pool = createPool({ url: database.url, schema: 'transactions', log });
    onTestFinished(() => pool.end().then(database.drop));
    const db = createDatabase({ pool });
    const before = makeKafkaBus({ address: kafka.address });
    const first = createOutboxRelay({ db, bus: before, log });
    const events = Array.from({ length: 3 }, () => sampleEvent());
    for (const event of events)
      await db.query(sql`
        INSERT INTO outbox (event_id, topic, key, event) VALUES (${event.id}, 'accord.consents', ${event.subject}, ${event}::jsonb)`);
    first.start();
    const sent = sql`SELECT count(*)::int AS count FROM outbox_sent`;
    await expect.poll(() => db.one(sent), { timeout: 60_000 }).toEqual({ count: 3 });
    await first.stop();
    await before.stop();
    await withAdmin((admin) => admin.deleteTopics({ topics: ['accord.consents'] }), kafka.address);
    await createTopics({ brokers: [kafka.address], wanted: readTopics(asyncApi) });
    const { bus, came } = start();
    await bus.joined();
    const env = { KAFKA_BROKERS: kafka.address, DATABASE_URL: database.url };
    const refill = await runCommand('services/topics.ts', ['--refill', 'accord.consents'], { env });
    expect(refill).toMatchObject({ code: 0, errors: '' });
    expect(refill.output).toContain('transactions: 3 events are published again.');
    const second = createOutboxRelay({ db, bus, log });
    second.start();
    onTestFinished(() => second.stop());
    await expect.poll(() => events.every(({ id }) => came.consents.has(id)), { timeout: 60_000 }).toBe(true);
  });

  test('a topic that was deleted and made again while a reader was busy is read from its beginning', {
    timeout: 180_000,
  }, async () => {
    const bus = makeKafkaBus({ address: kafka.address });
    buses.push(bus);
    const subject = randomUUID();
    const sent = Array.from({ length: 20 }, () => outbound(sampleEvent({ subject })));
    const [busyWith, next] = [sent.at(-1), outbound(sampleEvent({ subject }))];
    const isBusy = Promise.withResolvers<void>();
    const mayGoOn = Promise.withResolvers<void>();
    const came = new Set<string>();
    bus.subscribe('accord.consents', testReader(), async ({ id }) => {
      came.add(id);
      if (id !== busyWith?.event.id) return;
      isBusy.resolve();
      await mayGoOn.promise;
    });
    bus.start();
    await bus.joined();
    await publishAll(bus, sent);
    await isBusy.promise;
    await withAdmin((admin) => admin.deleteTopics({ topics: ['accord.consents'] }), kafka.address);
    await createTopics({ brokers: [kafka.address], wanted: readTopics(asyncApi) });
    await publishAll(bus, [next]);
    mayGoOn.resolve();
    await expect.poll(() => came.has(next.event.id), { timeout: 60_000 }).toBe(true);
  });
});
