import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { fillTables } from '../../bench/fill-tables.ts';
import { createHttpClient } from '../../bench/http-client.ts';
import { createKey } from '../../bench/prepare-folder.ts';
import { countRows, readPlans } from '../../bench/read-plans.ts';
import { runFlow, type Target } from '../../bench/run-flow.ts';
import { walkRequests } from '../../bench/walk-requests.ts';
import { createStrangersSweeper } from '../../services/transactions/erasure/forget-strangers.ts';
import { createExpiryNotifier, createPartSweeper } from '../../services/transactions/jobs.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { noMessaging } from '../support/instances/no-messaging.ts';

/**
 * Enough that an index is cheaper than the table; ANALYZE reads all of so few, so that plans are the same
 * every time.
 */
const records = 9_000;
const log = createLogger({ level: 'silent' });

describe('with thousands of records, requests', () => {
  let instance: TestInstance;
  let target: Target;
  const plansOf = (subject: string) => readPlans(instance.databaseUrl, () => walkRequests(target, subject));
  beforeAll(async () => {
    instance = await startTestInstance();
    const port = Number(new URL(instance.url).port);
    target = { client: createHttpClient({ port, connections: 1 }), key: await createKey(port) };
    await runFlow(target, { subject: 'sample', order: 0 }, () => {});
    await fillTables(instance.databaseUrl, records);
  }, 60_000);
  afterAll(async () => {
    target?.client.close();
    await instance?.stop();
  });

  it('read no growing table completely', async () => {
    const plans = await plansOf('filled-1');
    const tables = ['transactions', 'records', 'receipts', 'context_claims'];
    for (const table of tables)
      expect(
        plans.some(({ text }) => text.includes(table)),
        `a statement on ${table} was seen`,
      ).toBe(true);
    expect(plans.filter(({ readWhole }) => readWhole.length > 0)).toEqual([]);
  });

  it('for uncommitted transactions read only these', async () => {
    const list = async () => {
      const { status } = await target.client.get('/transactions?states=CANCELLED', { CM_KEY: target.key });
      expect(status).toBe(200);
    };
    const plans = await readPlans(instance.databaseUrl, list);
    expect(plans.find(({ text }) => text.includes('FROM transactions'))?.indexes).toEqual([
      'transactions_not_committed',
      // Of each transaction found: whether it has ended a consent.
      'records_withdrawing',
    ]);
  });

  it.each([
    ['ON_BEHALF', ['transactions_on_behalf']],
    ['IMPORT', ['transactions_kind']],
    ['WITHDRAWAL', ['transactions_kind', 'records_withdrawing']],
  ])('for the kind %s look only for these', async (kind, indexes) => {
    const list = async () => {
      const { status } = await target.client.get(`/transactions?kind=${kind}`, { CM_KEY: target.key });
      expect(status).toBe(200);
    };
    const plan = (await readPlans(instance.databaseUrl, list)).find(({ text }) =>
      text.includes('FROM transactions'),
    );
    expect(plan?.readWhole).toEqual([]);
    expect(plan?.indexes).toEqual(expect.arrayContaining(indexes));
  });

  it.each([
    ['a condition', { condition: { key: 'processing.001', value: 'what nobody says' } }, 500],
    [
      'conditions',
      {
        operator: 'OR',
        conditions: ['processing.001', 'processing.002'].map((key) => ({ key, value: 'what nobody says' })),
      },
      1_000,
    ],
  ])('for the people of %s look at so many answers at a time, however few match', async (_, body, most) => {
    const headers = { CM_KEY: target.key, 'Content-Type': 'application/json' };
    const extract = async () => {
      const { status } = await target.client.post('/records/extraction', headers, JSON.stringify(body));
      expect(status).toBe(200);
    };
    expect((await countRows(instance.databaseUrl, 'records', extract)).most).toBeLessThanOrEqual(most);
  });

  it('of the expiry job read only due rows', async () => {
    const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
    const db = createDatabase({ pool });
    await db.query(sql`UPDATE transactions SET notice_at = NULL WHERE subject = 'filled-3'`);
    await db.query(
      sql`UPDATE transactions SET notice_at = now() WHERE subject = 'filled-4' AND state = 'COMMITTED'`,
    );
    const asked = { source: instance.url, leadMs: 1, everyMs: 60_000, wake() {}, log };
    const job = createExpiryNotifier({ ...asked, db, forms: { activeVersions: async () => ({}) } });
    const plans = await readPlans(instance.databaseUrl, job.runOnce);
    await pool.end();
    expect(plans.length).toBeGreaterThanOrEqual(4);
    expect(plans.filter(({ readWhole }) => readWhole.length > 0)).toEqual([]);
    const indexes = plans.flatMap((plan) => plan.indexes);
    expect(indexes).toEqual(expect.arrayContaining(['transactions_notice', 'transactions_unplanned']));
  });

  it('of the sweep of what strangers have begun read only these', async () => {
    const body = (subject: string) => JSON.stringify({ subject, layout: 'layout.001' });
    const headers = { CM_KEY: target.key, 'Content-Type': 'application/json' };
    for (let count = 1; count <= 50; count += 1)
      expect((await target.client.post('/consents', headers, body(`stranger ${count}`))).status).toBe(201);
    const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
    const db = createDatabase({ pool });
    await db.query(sql`
      UPDATE transactions SET created_by = 'public:page', state = 'CANCELLED' WHERE subject LIKE 'stranger %'`);
    await db.query(sql`ANALYZE transactions`);
    const plans = await readPlans(
      instance.databaseUrl,
      createStrangersSweeper({ db, log, everyMs: 60_000 }).runOnce,
    );
    await pool.end();
    expect(plans.filter(({ readWhole }) => readWhole.length > 0)).toEqual([]);
    expect(plans.flatMap((plan) => plan.indexes)).toEqual(
      expect.arrayContaining(['transactions_of_strangers', 'transactions_children']),
    );
  });

  it('that delete a row look for what refers to it by an index', async () => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    // An index that has only rows where the columns are set serves as well: a reference is never NULL.
    // Keys of imports are never deleted.
    const { rows } = await client.query(`
      SELECT c.conrelid::regclass || ' ' || pg_get_constraintdef(c.oid) AS reference
        FROM pg_constraint AS c
       WHERE c.contype = 'f' AND c.confrelid <> 'transactions.import_keys'::regclass AND NOT EXISTS (
             SELECT FROM pg_index AS i
              WHERE i.indrelid = c.conrelid
                AND (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
                AND (i.indpred IS NULL
                     OR pg_get_expr(i.indpred, i.indrelid) ~ '^[(][a-z_]+ IS NOT NULL[)]$'))`);
    await client.end();
    expect(rows.map(({ reference }) => reference)).toEqual([]);
  });

  it('of the sweeps of parts read only due rows', async () => {
    const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
    const db = createDatabase({ pool });
    await db.query(sql`
      INSERT INTO sent_parts (sid, transaction, place, location, name, state, version, sealed, mode, language,
                             shown, deadline, changed_at)
      SELECT left(t.id || repeat('x', 22), 22), t.id, 0, '', '', 'SENDING', 1, '', 'commit', 'en', '{}', now(), now()
        FROM transactions AS t`);
    await db.query(sql`
      INSERT INTO received_parts (peer, sid, verdict, transaction, received_at, changed_at)
      SELECT '', f.sid, 'held', f.transaction, now(), now() FROM sent_parts AS f`);
    await db.query(sql`
      INSERT INTO notices (withdrawal, recipient, kind, location, name, state, since, due_at, created_at)
      SELECT f.transaction, f.sid, 'PEER', '', '', 'QUEUED', now(),
             now() + (row_number() OVER () - 2) * interval '1 hour', now()
        FROM sent_parts AS f`);
    await db.query(sql`ANALYZE sent_parts, received_parts, notices`);
    const job = { source: instance.url, everyMs: 60_000, wake() {}, log, messaging: noMessaging };
    const plans = await readPlans(instance.databaseUrl, createPartSweeper({ ...job, db }).runOnce);
    await pool.end();
    const indexes = plans.flatMap((plan) => plan.indexes);
    const expected = ['sent_parts_unanswered', 'sent_parts_resent', 'received_parts_undecided'];
    expected.push('notices_due', 'notices_of_part');
    expect(indexes).toEqual(expect.arrayContaining(expected));
  });

  it('are detected as slow if an index is missing', async () => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    await client.query('DROP INDEX transactions.records_subject, transactions.records_in_force');
    await client.end();
    const plans = await plansOf('filled-2');
    expect(plans.flatMap(({ readWhole }) => readWhole)).toContain('records');
  });
});
