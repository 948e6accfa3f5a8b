import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createTargetLeases } from '#lib/deliveries/target-leases.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { readNamed } from '../../services/forms/queries/read-peers.ts';
import {
  changeMembers,
  listAsked,
  listDue,
  lockDue,
} from '../../services/transactions/campaigns/members-store.ts';
import { webhookTables } from '../../services/webhooks/jobs/webhook-deliveries.ts';
import { markDelivered } from '../../services/webhooks/queries/attempts.ts';
import { samplePart, startDelivering } from '../support/instances/delivering-instance.ts';
import { takeParts } from '../support/peers/own-owner.ts';
import { startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { patience } from '../support/run/patience.ts';
import { sampleEvent } from '../support/samples/sample-events.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** After so many executions PostgreSQL stops making plans for the values at hand. */
const untilKept = 8;
const many = 600;
const often = { ...patience, interval: 5 };

/** As many as a pool has. */
const connections = 10;

/**
 * Has every connection tell what it has counted, which each does late by itself: all are held until all are
 * there.
 */
async function tellCounts(db: Database): Promise<void> {
  const { promise: allAreHeld, resolve } = Promise.withResolvers<void>();
  let held = 0;
  await Promise.all(
    Array.from({ length: connections }, () =>
      db.withTransaction(async (tx) => {
        held += 1;
        if (held === connections) resolve();
        await allAreHeld;
        await tx.query(sql`SELECT pg_stat_force_next_flush()`);
      }),
    ),
  );
}

/** What has been read of a table since it was made, as soon as `deleted` rows are known to have gone. */
async function readsOf(db: Database, table: string, deleted: number) {
  const read = async () => {
    await tellCounts(db);
    return db.one<{ deleted: number; whole: number; rows: number }>(sql`
      SELECT s.n_tup_del AS deleted, s.seq_tup_read AS whole, s.idx_tup_fetch AS rows
        FROM pg_stat_user_tables AS s WHERE s.relid = ${table}::regclass`);
  };
  await expect.poll(async () => (await read()).deleted, patience).toBeGreaterThanOrEqual(deleted);
  return read();
}

describe('plans made on an empty queue still use indexes when it has filled', () => {
  it('in the outbox', async () => {
    const database = await createTestDatabase();
    const pool = createPool({ url: database.url, schema: 'transactions', log });
    ends.push(database.drop, () => pool.end());
    const db = createDatabase({ pool });
    let told = 0;
    const relay = createOutboxRelay({
      db,
      log,
      bus: {
        publish: async (events) => {
          told += events.length;
          return [];
        },
        canLose: false,
        lingerMs: 0,
        pausedTopics: () => [],
      },
    });
    relay.start();
    ends.push(relay.stop);
    const { source, subject } = sampleEvent({});
    const data = { transaction: 'ABCDEFGHJKLMNPQRSTUVWX', state: 'CREATED', version: 1 } as const;
    const write = () =>
      addToOutbox(db, 'accord.consents', { type: 'io.accord.consent.created.v1', source, subject, data });
    for (let written = 0; written < untilKept; written += 1) {
      await write();
      relay.wake();
      await expect.poll(() => told, often).toBe(written + 1);
    }
    await db.query(sql`
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT gen_random_uuid(), 'accord.consents', n::text, '{}' FROM generate_series(1, ${many}::int) AS n`);
    await expect.poll(() => told, patience).toBe(untilKept + many);
    for (let more = 1; more <= 20; more += 1) {
      await write();
      relay.wake();
      await expect.poll(() => told, often).toBe(untilKept + many + more);
    }
    expect(await readsOf(db, 'outbox', untilKept + many)).toMatchObject({ whole: 0 });
  });

  it('among deliveries to a peer', async () => {
    const clinic = await startDelivering();
    const laboratory = await startOwnPeer();
    ends.push(clinic.stop);
    const owner = takeParts(laboratory);
    await clinic.pairWith(laboratory);
    const { db } = clinic;
    const left = async () => (await db.query(sql`SELECT FROM deliveries AS d LIMIT 1`)).length;
    for (let sent = 0; sent < 4 * untilKept; sent += 1) {
      await clinic.release(laboratory);
      await expect.poll(left, often).toBe(0);
    }
    const sids = Array.from({ length: many }, () => randomId());
    for (const sid of sids) clinic.transactions.parts.set(sid, samplePart(clinic.url, laboratory.url));
    await db.query(sql`
      INSERT INTO deliveries (kind, peer_url, sid, pinned, not_before, deadline, created_at)
      SELECT 'submit', ${laboratory.url}, s, ARRAY(SELECT k.kid FROM peer_keys AS k), accord_now(), accord_now() + interval '1 day',
             accord_now()
        FROM unnest(${sids}::text[]) AS s`);
    await expect.poll(() => owner.came.length, patience).toBe(4 * untilKept + many);
    const { rows, whole } = await readsOf(db, 'deliveries', 4 * untilKept + many);
    // As it is, 20 to 30 for each part, because others hold some of them; to read all that is queued for each
    // part would be a hundred thousand rows and more.
    expect({ rows, whole, isFew: rows < 100 * many && whole < many }).toMatchObject({
      isFew: true,
    });
  });

  it('among deliveries to a webhook', async () => {
    const database = await createTestDatabase();
    const pool = createPool({ url: database.url, schema: 'webhooks', log });
    ends.push(database.drop, () => pool.end());
    const db = createDatabase({ pool });
    const webhook = randomUUID();
    await db.query(sql`
      INSERT INTO webhooks (id, name, target_url, subscribed_actions, secret, state, state_since, created_at, modified_at)
      VALUES (${webhook}, 'hook', 'https://hooks.example.org/', ARRAY['key.created'], '\\x00', 'ACTIVE', now(), now(), now())`);
    const add = (count: number, status: string) =>
      db.query(sql`
        INSERT INTO deliveries (id, webhook, message_id, event_id, action, source_id, event, redelivery, status, attempts, not_before,
                                created_at, delivered_at)
        SELECT gen_random_uuid(), ${webhook}, gen_random_uuid(), gen_random_uuid(), 'key.created', 'key', '{}', false, ${status},
               0, now(), now(), CASE WHEN ${status} = 'DELIVERED' THEN now() END
          FROM generate_series(1, ${count}::int)`);
    const leases = createTargetLeases(db, { tables: webhookTables, owner: randomUUID() });
    const deliver = async () => {
      const claimed = await leases.claim(10);
      const rows = await leases.readDue(
        claimed.map((lease) => ({ ...lease, room: 10 })),
        [],
      );
      const attempts = rows.map(({ id }) => ({ row: { id, webhook }, facts: { statusCode: 200 }, ms: 1 }));
      await db.withTransaction((tx) => markDelivered(tx, attempts), { indexPlans: true });
      await leases.release(claimed);
      return rows.length;
    };
    for (let sent = 0; sent < untilKept; sent += 1) {
      await add(1, 'PENDING');
      expect(await deliver()).toBe(1);
    }
    await add(5 * many, 'DELIVERED');
    await add(many, 'PENDING');
    while ((await deliver()) > 0);
    const { rows, whole } = await readsOf(db, 'deliveries', 0);
    expect({ rows, whole, isFew: rows < 100 * many && whole < many }).toMatchObject({
      isFew: true,
    });
  });

  it('among the people of a campaign', async () => {
    const database = await createTestDatabase();
    const pool = createPool({ url: database.url, schema: 'transactions', log });
    ends.push(database.drop, () => pool.end());
    const db = createDatabase({ pool });
    const campaign = randomId();
    await db.query(sql`
      INSERT INTO campaigns (id, name, state, selection, is_named, context, channel, per_minute, reminders, author,
                             created_by, created_at, started_at, end_at)
      VALUES (${campaign}, 'survey', 'RUNNING', '{}', false, '{}', 'EMAIL', 60, 0, 'x', 'x', now(), now(), 'infinity')`);
    const add = (count: number) =>
      db.query(sql`
        WITH s AS (
          INSERT INTO subjects (id, name, created_at, modified_at, position)
          SELECT gen_random_uuid(), gen_random_uuid()::text, now(), now(), 1
            FROM generate_series(1, ${count}::int) RETURNING id
        )
        INSERT INTO campaign_members (campaign, subject, object, reason, state, due_at, changed_at)
        SELECT ${campaign}, s.id, '', 'CHANGED', 'PICKED', now(), now() FROM s`);
    const sendNext = async () => {
      const references = await listDue(db, campaign, 8);
      await db.withTransaction(async (tx) => {
        const due = await lockDue(tx, campaign, references);
        expect(due.length).toBe(references.length);
        const sent = references.map((reference) => ({ reference, state: 'SENT' as const, dueMs: null }));
        await changeMembers(tx, campaign, sent, ['PICKED']);
      });
      await listAsked(db, campaign, { after: null, limit: 8 });
      return references.length;
    };
    for (let sent = 0; sent < untilKept; sent += 1) {
      await add(1);
      expect(await sendNext()).toBe(1);
    }
    await add(2 * many);
    while ((await sendNext()) > 0);
    const { rows, whole } = await readsOf(db, 'campaign_members', 0);
    expect({ rows, whole, isFew: rows < 100 * many && whole < many }).toMatchObject({ isFew: true });
  });
});

it('keeps plans of statements after a few executions, also for short lists', async () => {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, schema: 'forms', log, max: 1 });
  ends.push(database.drop, () => pool.end());
  const db = createDatabase({ pool });
  for (let asked = 0; asked < 2 * untilKept; asked += 1)
    await readNamed(db, { keys: ['information.001'] }, [{ key: 'research', host: 'laboratory.example' }]);
  const plans = await db.query<{ kept: number; anew: number }>(sql`
    SELECT s.generic_plans::int AS kept, s.custom_plans::int AS anew
      FROM pg_prepared_statements AS s WHERE s.generic_plans + s.custom_plans > 1`);
  // PostgreSQL plans the first five executions for their values (PREPARE, "Notes").
  expect(plans).toEqual([{ kept: 2 * untilKept - 5, anew: 5 }]);
});

it("leaves the settings of the operator's database alone", async () => {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, schema: 'forms', log, max: 1 });
  ends.push(database.drop, () => pool.end());
  const db = createDatabase({ pool });
  await db.withTransaction((tx) => tx.query(sql`SELECT`), { asyncCommit: true, indexPlans: true });
  const changed = await db.query(sql`
    SELECT s.name, s.source FROM pg_settings AS s
     WHERE s.name IN ('plan_cache_mode', 'seq_page_cost', 'jit', 'synchronous_commit')
       AND s.source IN ('client', 'session')`);
  expect(changed).toEqual([]);
});
