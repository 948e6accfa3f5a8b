import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { patience } from '../../support/run/patience.ts';
import { createTestDatabase } from '../../support/stores/postgres.ts';
import { createRandom } from '../random.ts';
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts';

interface Behind {
  proxy: PostgresProxy;
  db: ReturnType<typeof createDatabase>;
  /** Ids in the table, asked without the proxy. */
  stored(): Promise<number[]>;
}

async function behindProxy(): Promise<Behind> {
  const database = await createTestDatabase();
  const direct = new URL(database.url);
  const proxy = await startPostgresProxy({ target: () => Number(direct.port), random: createRandom(1) });
  const through = new URL(direct);
  through.port = String(proxy.port);
  const pool = createPool({ url: through.href, schema: 'public', log: createLogger({ level: 'silent' }) });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('CREATE TABLE things (id integer PRIMARY KEY)');
  onTestFinished(async () => {
    await client.end();
    await pool.end();
    await proxy.close();
    await database.drop();
  });
  const stored = async () =>
    (await client.query('SELECT id FROM things ORDER BY id')).rows.map(({ id }) => id);
  return { proxy, db: createDatabase({ pool }), stored };
}

const add = (id: number) => sql`INSERT INTO things (id) VALUES (${id})`;

it('the PostgreSQL proxy forwards statements and replies unchanged', async () => {
  const { db, stored } = await behindProxy();
  await db.query(add(1));
  await db.withTransaction((tx) => tx.query(add(2)));
  expect(await db.query(sql`SELECT t.id FROM things AS t ORDER BY t.id`)).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await stored()).toEqual([1, 2]);
});

it('the PostgreSQL proxy loses the reply to a COMMIT that took effect', async () => {
  const { proxy, db, stored } = await behindProxy();
  await db.query(add(1));
  proxy.loseReplies({ percent: 100, as: 'cut' });
  await expect(db.query(add(2))).rejects.toMatchObject({ code: 'unavailable' });
  await expect(db.withTransaction((tx) => tx.query(add(3)))).rejects.toMatchObject({ code: 'unavailable' });
  // What reads loses nothing.
  expect(await db.query(sql`SELECT t.id FROM things AS t`)).toHaveLength(3);
  expect(await stored()).toEqual([1, 2, 3]);
  expect(proxy.lost()).toBe(2);
  proxy.loseReplies();
  await db.query(add(4));
  expect(await stored()).toHaveLength(4);
});

it('the PostgreSQL proxy cuts connections and accepts new ones', async () => {
  const { proxy, db } = await behindProxy();
  const waiting = db.query(sql`SELECT pg_sleep(5)`).catch((error: unknown) => error);
  await db.query(sql`SELECT 1 AS one`);
  proxy.cut();
  expect(await waiting).toMatchObject({ code: 'unavailable' });
  // An idle one may break a moment after it was taken.
  await vi.waitFor(async () => expect(await db.query(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]), patience);
});

it('the PostgreSQL proxy forwards nothing while it holds, and everything afterwards', async () => {
  const { proxy, db, stored } = await behindProxy();
  await db.query(add(1));
  proxy.hold();
  const waiting = db.query(add(2));
  expect(await stored()).toEqual([1]);
  proxy.release();
  await waiting;
  expect(await stored()).toEqual([1, 2]);
});
