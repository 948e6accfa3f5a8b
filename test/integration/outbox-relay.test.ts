import { afterEach, describe, expect, test, vi } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import type { OutboundEvent, Unsent } from '#lib/events/event-bus.ts';
import { applyOnce, createInboxSweeper } from '#lib/events/inbox.ts';
import { addToOutbox, type NewEvent } from '#lib/events/outbox.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { forgetSent, refillOutbox } from '#lib/events/sent-events.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { sampleEvent } from '../support/samples/sample-events.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function openDatabase(): Promise<Database> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, schema: 'transactions', log });
  ends.push(database.drop, () => pool.end());
  return createDatabase({ pool });
}

type Publish = (events: readonly OutboundEvent[]) => Promise<readonly Unsent[]>;

/** A carrier of the test's, which may lose what it has, as Kafka may. */
function busOf(publish: Publish) {
  return { publish, canLose: true, lingerMs: 0, pausedTopics: () => [] };
}

/** A relay on a bus of the test's. */
function startRelay(db: Database, publish: Publish) {
  const relay = createOutboxRelay({ db, bus: busOf(publish), log });
  ends.push(relay.stop);
  relay.start();
  return relay;
}

function newEvent(changes: { subject?: string }): NewEvent<'accord.consents'> {
  const { source, subject } = sampleEvent(changes);
  const data = { transaction: 'ABCDEFGHJKLMNPQRSTUVWX', state: 'CREATED', version: 1 } as const;
  return { type: 'io.accord.consent.created.v1', source, subject, data };
}

const write = (db: Database, changes = {}) => {
  return db.withTransaction((tx) => addToOutbox(tx, 'accord.consents', newEvent(changes)));
};
const countRows = async (db: Database) =>
  (await db.one<{ count: number }>(sql`SELECT count(*)::int AS count FROM outbox`)).count;

describe('the outbox relay', () => {
  test('sends every event that was committed, in the order of writing, and keeps none', async () => {
    const db = await openDatabase();
    for (const subject of ['a', 'b', 'c']) await write(db, { subject });
    const sent: string[] = [];
    startRelay(db, async (events) => {
      sent.push(...events.map(({ event }) => event.subject));
      return [];
    });
    await expect.poll(() => countRows(db)).toBe(0);
    expect(sent).toEqual(['a', 'b', 'c']);
  });

  test('reads an empty outbox with single statements, without a transaction', async () => {
    const db = await openDatabase();
    const looks = vi.spyOn(db, 'query');
    const transactions = vi.spyOn(db, 'withTransaction');
    startRelay(db, async () => []);
    await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(3);
    expect(transactions).not.toHaveBeenCalled();
  });

  test('finds an event that another process has written', async () => {
    const [db, sent] = [await openDatabase(), new Set<string>()];
    const looks = vi.spyOn(db, 'query');
    startRelay(db, async (events) => {
      for (const { event } of events) sent.add(event.subject);
      return [];
    });
    await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(1);
    await write(db, { subject: 'elsewhere' });
    await expect.poll(() => [...sent]).toEqual(['elsewhere']);
  });

  test('publishes an event that commits after a later one', async () => {
    const db = await openDatabase();
    const sent = new Set<string>();
    startRelay(db, async (events) => {
      for (const { event } of events) sent.add(event.subject);
      return [];
    });
    await db.withTransaction(async (tx) => {
      await addToOutbox(tx, 'accord.consents', newEvent({ subject: 'early' }));
      await write(db, { subject: 'late' });
      await expect.poll(() => sent.has('late')).toBe(true);
    });
    await expect.poll(() => sent.has('early')).toBe(true);
  });

  test('shares the work with other relays: each event is sent by one of them', async () => {
    const db = await openDatabase();
    for (let index = 0; index < 500; index += 1) await write(db, { subject: `s${index}` });
    const sent: string[] = [];
    for (let relay = 0; relay < 3; relay += 1)
      startRelay(db, async (events) => {
        sent.push(...events.map(({ event }) => event.subject));
        return [];
      });
    await expect.poll(() => countRows(db)).toBe(0);
    expect(sent.length).toBe(500);
    expect(new Set(sent).size).toBe(500);
  });

  test('sends only unacknowledged events again', async () => {
    const db = await openDatabase();
    for (const subject of ['a', 'b', 'c']) await write(db, { subject });
    const rounds: string[][] = [];
    startRelay(db, async (events) => {
      rounds.push(events.map(({ event }) => event.subject));
      const lost = events.filter(({ event }) => event.subject === 'b' && rounds.length < 3);
      return lost.map(({ event }) => ({ id: event.id, permanent: false, error: new Error('no answer') }));
    });
    await expect.poll(() => countRows(db)).toBe(0);
    expect(rounds).toEqual([['a', 'b', 'c'], ['b'], ['b']]);
  });

  test('publishes no event before an earlier one of its key that failed, and those of other keys meanwhile', async () => {
    const db = await openDatabase();
    const sent: string[] = [];
    let isUp = false;
    const relay = startRelay(db, async (events) => {
      const lost = events.filter(({ key }) => key === 'a' && !isUp);
      sent.push(...events.filter((each) => !lost.includes(each)).map(({ event }) => event.id));
      return lost.map(({ event }) => ({ id: event.id, permanent: false, error: new Error('no answer') }));
    });
    for (const subject of ['a', 'a', 'b']) await write(db, { subject });
    const ids = (
      await db.query<{ id: string }>(sql`SELECT o.event_id AS id FROM outbox AS o ORDER BY o.id`)
    ).map(({ id }) => id);
    await expect.poll(() => sent).toEqual([ids[2]]);
    // The first event is retried later than the second.
    const delay = sql`
      UPDATE outbox SET not_before = now() + interval '1 hour'
       WHERE event_id = ${ids[0]} AND lease_until IS NULL AND attempts > 0 RETURNING id`;
    await expect.poll(async () => (await db.query(delay)).length).toBe(1);
    isUp = true;
    await db.query(sql`UPDATE outbox SET not_before = now() WHERE event_id = ${ids[1]}`);
    for (const subject of ['a', 'c']) await write(db, { subject });
    relay.wake();
    await expect.poll(() => sent.length).toBe(2);
    expect(ids.slice(0, 2)).not.toContain(sent[1]);
    await db.query(sql`UPDATE outbox SET not_before = now()`);
    relay.wake();
    await expect.poll(() => countRows(db)).toBe(0);
    expect(sent.slice(2, 4)).toEqual(ids.slice(0, 2));
    expect(sent.length).toBe(5);
  });

  test('publishes no event of a key while another relay publishes an earlier one', async () => {
    const db = await openDatabase();
    const ids: string[] = [];
    const gate = Promise.withResolvers<void>();
    const publish: Publish = async (events) => {
      ids.push(...events.map(({ event }) => event.id));
      if (events.some(({ event }) => event.subject === 'a')) await gate.promise;
      return [];
    };
    for (let relay = 0; relay < 3; relay += 1) startRelay(db, publish);
    await write(db, { subject: 'a' });
    await expect.poll(() => ids.length).toBe(1);
    await write(db, { subject: 'a' });
    await write(db, { subject: 'b' });
    await expect.poll(() => ids.length).toBe(2);
    gate.resolve();
    await expect.poll(() => countRows(db)).toBe(0);
    expect(new Set(ids).size).toBe(3);
  });

  test('publishes to one topic while many events wait for another', async () => {
    const db = await openDatabase();
    for (let index = 0; index < 3; index += 1)
      await db.query(sql`
        INSERT INTO outbox (event_id, topic, key, event)
        SELECT gen_random_uuid(), 'accord.peer-submissions', 'k', ${JSON.stringify(sampleEvent())}::jsonb FROM generate_series(1, 200)`);
    await write(db, { subject: 'a' });
    const sent: string[] = [];
    const bus = busOf(async (events) => {
      sent.push(...events.map(({ topic }) => topic));
      return [];
    });
    const relay = createOutboxRelay({
      db,
      bus: { ...bus, pausedTopics: () => ['accord.peer-submissions'] },
      log,
    });
    ends.push(relay.stop);
    relay.start();
    await expect.poll(() => countRows(db)).toBe(600);
    expect(sent).toEqual(['accord.consents']);
  });

  test('stores an unpublishable event as a dead letter, by ids alone, and publishes the rest', async () => {
    const db = await openDatabase();
    for (const subject of ['a', 'b', 'c']) await write(db, { subject });
    const sent: string[] = [];
    startRelay(db, async (events) => {
      sent.push(...events.map(({ event }) => event.subject).filter((subject) => subject !== 'b'));
      const permanent = events.filter(({ event }) => event.subject === 'b');
      return permanent.map(({ event }) => ({ id: event.id, permanent: true, error: new Error('too large') }));
    });
    await expect.poll(() => countRows(db)).toBe(0);
    expect(sent).toEqual(['a', 'c']);
    const letters = await db.query(
      sql`SELECT d.consumer, d.topic, d.type, d.subject, d.reason FROM dead_letters AS d`,
    );
    const { type } = sampleEvent();
    expect(letters).toEqual([
      { consumer: 'relay', topic: 'accord.consents', type, subject: 'b', reason: 'too large' },
    ]);
  });

  test('publishes the sent events of a topic again after a refill, and those of no other topic', async () => {
    const db = await openDatabase();
    for (const subject of ['a', 'b']) await write(db, { subject });
    const sent: string[] = [];
    startRelay(db, async (events) => {
      sent.push(...events.map(({ event }) => event.subject));
      return [];
    });
    const kept = async () => (await db.query(sql`SELECT s.id FROM outbox_sent AS s`)).length;
    await expect.poll(kept).toBe(2);
    expect(await refillOutbox(db, ['accord.models'])).toBe(0);
    expect(await refillOutbox(db, ['accord.consents', 'accord.models'])).toBe(2);
    await expect.poll(() => sent).toEqual(['a', 'b', 'a', 'b']);
    await expect.poll(kept).toBe(2);
  });

  test('moves more events than fit into one statement, and each once although relays add them again', async () => {
    const db = await openDatabase();
    await db.query(sql`
      INSERT INTO outbox_sent (event_id, topic, key, event)
      SELECT gen_random_uuid(), 'accord.consents', n::text, ${JSON.stringify(sampleEvent())}::jsonb FROM generate_series(1, 2500) AS n`);
    startRelay(db, async () => []);
    expect(await refillOutbox(db, ['accord.consents'])).toBe(2_500);
    await expect.poll(() => countRows(db)).toBe(0);
    expect(await db.one(sql`SELECT count(*)::int AS count FROM outbox_sent`)).toEqual({ count: 2_500 });
  });

  test('deletes events that were sent more than a day ago', async () => {
    const db = await openDatabase();
    await write(db, { subject: 'old' });
    const count = async () =>
      (await db.one<{ count: number }>(sql`SELECT count(*)::int AS count FROM outbox_sent`)).count;
    const first = startRelay(db, async () => []);
    await expect.poll(count).toBe(1);
    await first.stop();
    await db.query(sql`UPDATE outbox_sent SET sent_at = now() - interval '25 hours'`);
    startRelay(db, async () => []);
    await expect.poll(count).toBe(0);
  });

  test('deletes a thousand old events at a time, and reports whether there are more', async () => {
    const db = await openDatabase();
    await db.query(sql`
      INSERT INTO outbox_sent (event_id, topic, key, event, sent_at)
      SELECT gen_random_uuid(), 'accord.consents', 'a', '{}', now() - interval '25 hours' FROM generate_series(1, 1500)`);
    expect(await forgetSent(db)).toBe(true);
    expect(await forgetSent(db)).toBe(false);
    expect(await db.one(sql`SELECT count(*)::int AS count FROM outbox_sent`)).toEqual({ count: 0 });
  });

  test('publishes the rows of a dead relay when its lease has expired', async () => {
    const db = await openDatabase();
    await write(db, { subject: 'claimed' });
    await db.query(sql`UPDATE outbox SET lease_until = now() + interval '1 second', attempts = 1`);
    const sent: string[] = [];
    startRelay(db, async (events) => {
      sent.push(...events.map(({ event }) => event.subject));
      return [];
    });
    await write(db, { subject: 'free' });
    await expect.poll(() => sent).toEqual(['free']);
    await expect.poll(() => sent).toEqual(['free', 'claimed']);
  });

  test('publishes pending events when it stops, and does not wait for a hanging bus', async () => {
    const db = await openDatabase();
    const sent: string[] = [];
    const relay = createOutboxRelay({
      db,
      log,
      bus: busOf(async (events) => {
        sent.push(...events.map(({ event }) => event.subject));
        return [];
      }),
    });
    relay.start();
    await write(db, { subject: 'last' });
    await relay.stop();
    expect(sent).toEqual(['last']);

    await write(db, { subject: 'never' });
    const hanging = createOutboxRelay({ db, log, bus: busOf(() => new Promise(() => {})) });
    hanging.start();
    const began = performance.now();
    await hanging.stop();
    expect(performance.now() - began).toBeLessThan(12_000);
    expect(await countRows(db)).toBe(1);
  });

  test('claims no rows after it was stopped', async () => {
    const db = await openDatabase();
    const atWork = Promise.withResolvers<void>();
    let published = 0;
    const relay = createOutboxRelay({
      db,
      log,
      bus: busOf(async () => {
        published += 1;
        // The other replicas are at work: there is always one more.
        await write(db);
        atWork.resolve();
        return [];
      }),
    });
    await write(db);
    relay.start();
    await atWork.promise;
    await relay.stop();
    const claimed = sql`SELECT count(*)::int AS count FROM outbox AS o WHERE o.lease_until IS NOT NULL`;
    await expect.poll(() => db.one(claimed)).toEqual({ count: 0 });
    const before = published;
    for (let round = 0; round < 20; round += 1) await write(db);
    expect(published).toBe(before);
    expect(await countRows(db)).toBe(21);
  });
});

describe('the inbox', () => {
  async function withInbox(): Promise<Database> {
    const db = await openDatabase();
    await db.query(sql`CREATE TABLE effects (event_id text)`);
    return db;
  }
  const apply = (db: Database, eventId: string, work: () => Promise<void> = async () => {}) =>
    db.withTransaction((tx) =>
      applyOnce(tx, { consumer: 'test', eventId }, async () => {
        await tx.query(sql`INSERT INTO effects (event_id) VALUES (${eventId})`);
        await work();
      }),
    );
  const effects = async (db: Database) =>
    (await db.query<{ event_id: string }>(sql`SELECT e.event_id FROM effects AS e`)).map(
      (row) => row.event_id,
    );

  test('applies an event once, even if it arrives repeatedly and concurrently', async () => {
    const db = await withInbox();
    const { id } = sampleEvent();
    const ran = await Promise.all(Array.from({ length: 5 }, () => apply(db, id)));
    expect(ran.filter(Boolean).length).toBe(1);
    expect(await effects(db)).toEqual([id]);
  });

  test('applies an event again if its effect failed', async () => {
    const db = await withInbox();
    const { id } = sampleEvent();
    await expect(apply(db, id, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
    expect(await effects(db)).toEqual([]);
    expect(await apply(db, id)).toBe(true);
    expect(await effects(db)).toEqual([id]);
  });

  test('deletes entries older than a month, and no others', async () => {
    const db = await withInbox();
    await db.query(sql`
      INSERT INTO inbox (consumer, event_id, applied_at)
      SELECT 'test', gen_random_uuid(), now() - interval '31 days' FROM generate_series(1, 1500)`);
    const { id } = sampleEvent();
    await apply(db, id);
    const sweeper = createInboxSweeper({ db, log, everyMs: 10 });
    ends.push(sweeper.stop);
    sweeper.start();
    await expect
      .poll(() => db.query(sql`SELECT i.event_id FROM inbox AS i LIMIT 3`))
      .toEqual([{ event_id: id }]);
    expect(await apply(db, id)).toBe(false);
  });
});
