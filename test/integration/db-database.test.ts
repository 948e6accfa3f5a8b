import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool, openConnections } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { patience } from '../support/run/patience.ts';
import { until } from '../support/run/until.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
let target: TestDatabase;
let pool: pg.Pool;
let db: Database;

beforeAll(async () => {
  target = await createTestDatabase();
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  await client.query('CREATE SCHEMA kernel; CREATE TABLE kernel.things (id integer PRIMARY KEY)');
  await client.end();
});
afterAll(() => target.drop());

beforeEach(async () => {
  pool = createPool({ url: target.url, schema: 'kernel', log, max: 2 });
  db = createDatabase({ pool });
  await db.query(sql`DELETE FROM things`);
});
afterEach(() => pool.end());

const ids = async () =>
  (await db.query<{ id: number }>(sql`SELECT t.id FROM things AS t ORDER BY t.id`)).map((r) => r.id);
const add = (id: number) => sql`INSERT INTO things (id) VALUES (${id})`;

test('numbers, times and JSON come as what they are, and nothing loses digits', async () => {
  const row = await db.one(sql`
    SELECT 9007199254740991::int8 AS safe, 9007199254740993::int8 AS large, ARRAY[1]::int8[] AS list, 1.10::numeric AS price,
           '2026-03-29T01:30:00Z'::timestamptz AS moment, '2026-03-29'::date AS day, '{"a":[1,null]}'::jsonb AS json`);
  expect(row).toEqual({
    safe: 9007199254740991,
    large: 9007199254740993n,
    list: [1],
    price: '1.10',
    moment: new Date('2026-03-29T01:30:00Z'),
    day: '2026-03-29',
    json: { a: [1, null] },
  });
});

test('the parsers are this pool’s alone', async () => {
  const other = new pg.Pool({ connectionString: target.url });
  const { rows } = await other.query('SELECT 1::int8 AS id').finally(() => other.end());
  expect(rows).toEqual([{ id: '1' }]);
});

test('connections can be opened before the first statement needs them', async () => {
  await openConnections(pool);
  expect([pool.totalCount, pool.idleCount]).toEqual([2, 2]);
});

test('connections that cannot be opened in advance fail nothing', async () => {
  const nowhere = createPool({ url: 'postgresql://nobody@127.0.0.1:1/none', schema: 'kernel', log });
  await openConnections(nowhere);
  expect(nowhere.totalCount).toBe(0);
  await nowhere.end();
});

test('a service sees its own schema and no other', async () => {
  expect(await db.one(sql`SELECT current_schemas(false)::text[] AS path`)).toEqual({ path: ['kernel'] });
});

test('every wait is bounded', async () => {
  const settings = await db.query<{ name: string; setting: string }>(
    sql`SELECT s.name, s.setting FROM pg_settings AS s WHERE s.name LIKE '%\_timeout'`,
  );
  const byName = Object.fromEntries(settings.map(({ name, setting }) => [name, setting]));
  expect(byName).toMatchObject({
    statement_timeout: '5000',
    lock_timeout: '2000',
    idle_in_transaction_session_timeout: '30000',
  });
  expect(pool.options).toMatchObject({
    connectionTimeoutMillis: 4_000,
    query_timeout: 7_000,
    keepAlive: true,
  });
});

test('options that the URL brings are kept beside the schema', async () => {
  const url = new URL(target.url);
  url.searchParams.set('options', '-c work_mem=5MB');
  const own = createPool({ url: url.href, schema: 'kernel', log });
  const result = await own.query(`SELECT current_setting('work_mem') AS memory, current_schema() AS schema`);
  await own.end();
  expect(result.rows).toEqual([{ memory: '5MB', schema: 'kernel' }]);
});

test('a statement is parsed once per connection', async () => {
  const single = createPool({ url: target.url, schema: 'kernel', log, max: 1 });
  const own = createDatabase({ pool: single });
  for (const id of [1, 2, 3]) await own.query(sql`SELECT ${id}::int AS once`);
  const prepared = await own.query(
    sql`SELECT p.statement FROM pg_prepared_statements AS p WHERE p.statement LIKE '%AS once'`,
  );
  await single.end();
  expect(prepared).toHaveLength(1);
});

test('one() requires exactly one row, maybeOne() at most one', async () => {
  expect(await db.maybeOne(sql`SELECT 1 AS n WHERE false`)).toBeUndefined();
  expect(await db.maybeOne(sql`SELECT 1 AS n`)).toEqual({ n: 1 });
  await expect(db.one(sql`SELECT 1 WHERE false`)).rejects.toThrow('got none');
  await expect(db.one(sql`SELECT generate_series(1, 2)`)).rejects.toThrow('got 2');
  await expect(db.maybeOne(sql`SELECT generate_series(1, 2)`)).rejects.toThrow('got 2');
});

test('a failed statement has PostgreSQL’s error code', async () => {
  await db.query(add(1));
  await expect(db.query(add(1))).rejects.toMatchObject({ code: '23505', constraint: 'things_pkey' });
});

test('a transaction commits what it did and returns what it found', async () => {
  const found = await db.withTransaction(async (tx) => {
    await tx.query(add(1));
    return tx.one(sql`SELECT count(*) AS n FROM things`);
  });
  expect(found).toEqual({ n: 1 });
  expect(await ids()).toEqual([1]);
});

test('a failed transaction is rolled back, and its client is discarded', async () => {
  const removed = vi.fn();
  pool.on('remove', removed);
  const refusal = new Error('refused');
  const work = db.withTransaction(async (tx) => {
    await tx.query(add(1));
    throw refusal;
  });
  await expect(work).rejects.toBe(refusal);
  expect(await ids()).toEqual([]);
  await vi.waitFor(() => expect(removed).toHaveBeenCalledTimes(1), patience);
});

test('a hidden failure of a statement fails the transaction', async () => {
  const work = db.withTransaction(async (tx) => {
    await tx.query(add(1));
    await tx.query(add(1)).catch(() => {});
    return 'done';
  });
  await expect(work).rejects.toThrow('rolled back');
  expect(await ids()).toEqual([]);
});

test('a statement that comes after the end of its transaction is refused', async () => {
  const kept = await db.withTransaction(async (tx) => tx);
  await expect(kept.query(add(1))).rejects.toThrow('after the end');
  expect(await ids()).toEqual([]);
});

test('a thrown value that is no Error rolls back', async () => {
  const work = db.withTransaction(async (tx) => {
    await tx.query(add(1));
    throw 'a word';
  });
  await expect(work).rejects.toBe('a word');
  expect(await ids()).toEqual([]);
});

test('a client that timed out is never reused', async () => {
  const hasty = new pg.Pool({ connectionString: target.url, max: 1, query_timeout: 100 });
  hasty.on('connect', (client) => client.on('error', () => {}));
  const own = createDatabase({ pool: hasty });
  const slow = own.withTransaction((tx) => tx.query(sql`SELECT 'late' AS answer FROM pg_sleep(0.4)`));
  await expect(slow).rejects.toMatchObject({ code: 'unavailable' });
  await expect(own.query(sql`SELECT 'late' AS answer FROM pg_sleep(0.4)`)).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(await own.query(sql`SELECT 'mine' AS answer`)).toEqual([{ answer: 'mine' }]);
  expect(hasty.totalCount).toBe(1);
  await hasty.end();
});

test('a pool without a free client fails instead of waiting for ever', async () => {
  const clients = await Promise.all([pool.connect(), pool.connect()]);
  const asked = Date.now();
  await expect(db.query(sql`SELECT 1`)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(db.withTransaction(async () => 1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(Date.now() - asked).toBeLessThan(12_000);
  for (const client of clients) client.release();
  expect(await db.query(sql`SELECT 1 AS n`)).toEqual([{ n: 1 }]);
});

test('a locked row makes a request fail after 2 s', async () => {
  await db.query(add(1));
  await db.withTransaction(async (tx) => {
    await tx.query(sql`SELECT 1 FROM things WHERE id = 1 FOR UPDATE`);
    await expect(db.query(sql`UPDATE things SET id = 2 WHERE id = 1`)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

const terminateOthers = sql`
  SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a
   WHERE a.datname = current_database() AND a.application_name = 'accord-kernel' AND a.pid <> pg_backend_pid()`;

test('the pool survives when PostgreSQL ends idle connections', async () => {
  await Promise.all([db.query(sql`SELECT pg_sleep(0.05)`), db.query(sql`SELECT pg_sleep(0.05)`)]);
  expect(pool.totalCount).toBe(2);
  await db.query(terminateOthers);
  await vi.waitFor(() => expect(pool.totalCount).toBe(1), patience);
  expect(await Promise.all([db.query(sql`SELECT 1 AS n`), db.query(sql`SELECT 2 AS n`)])).toEqual([
    [{ n: 1 }],
    [{ n: 2 }],
  ]);
});

test('the pool survives when PostgreSQL ends a connection in use', async () => {
  const broken = db.withTransaction(async (tx) => {
    await tx.query(add(1));
    await db.query(terminateOthers);
    await tx.query(add(2));
  });
  await expect(broken).rejects.toMatchObject({ code: 'unavailable' });
  expect(await ids()).toEqual([]);
});

test('an unreachable database is reported as unavailable', async () => {
  const url = new URL(target.url);
  url.port = '1';
  const nowhere = createPool({ url: url.href, schema: 'kernel', log });
  await expect(createDatabase({ pool: nowhere }).query(sql`SELECT 1`)).rejects.toMatchObject({
    code: 'unavailable',
  });
  await nowhere.end();
});

test('a transaction with asyncCommit does not wait for the disk; others on the same connection do', async () => {
  await db.query(add(1));
  const single = createPool({ url: target.url, schema: 'kernel', log, max: 1 });
  const database = createDatabase({ pool: single });
  /** @returns whether the change was on disk when its COMMIT returned. */
  async function waits(asyncCommit: boolean): Promise<boolean> {
    const { at } = await database.one<{ at: string }>(sql`SELECT pg_current_wal_insert_lsn()::text AS at`);
    await database.withTransaction((tx) => tx.query(sql`UPDATE things SET id = id + 1`), { asyncCommit });
    const { done } = await database.one<{ done: boolean }>(
      sql`SELECT pg_current_wal_flush_lsn() >= ${at}::pg_lsn AS done`,
    );
    return done;
  }
  try {
    await database.query(sql`SET synchronous_commit = on`);
    await until(async () => expect(await waits(true)).toBe(false));
    for (let count = 0; count < 20; count += 1) {
      await waits(true);
      expect(await waits(false)).toBe(true);
    }
  } finally {
    await single.end();
  }
});
