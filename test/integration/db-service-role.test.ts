import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPool } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { definitions } from '../../services/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
const names = definitions.map(({ name }) => name);
let database: TestDatabase;
const pools = new Map<string, pg.Pool>();

beforeAll(async () => {
  database = await createTestDatabase();
  for (const schema of names) {
    const url = new URL(database.url);
    url.username = roleOf(schema);
    pools.set(schema, createPool({ url: url.href, schema, log, max: 1 }));
  }
});
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.end()));
  await database.drop();
});

const poolOf = (schema: string) => pools.get(schema) as pg.Pool;

/** What PostgreSQL says to a statement of a service: `ok`, or the SQLSTATE. */
function says(schema: string, text: string): Promise<string> {
  return poolOf(schema)
    .query(text)
    .then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
}

const refused = '42501';

test.each(names)(
  '%s may read and write the rows of its own tables, and use its functions',
  async (schema) => {
    const { rows } = await poolOf(schema).query(
      'SELECT t.tablename AS name FROM pg_tables AS t WHERE t.schemaname = $1',
      [schema],
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { name } of rows) {
      expect(await says(schema, `SELECT * FROM ${name}`)).toBe('ok');
      const isKept = ['migrations', 'audit_log', 'audit_tree'].includes(name);
      expect(await says(schema, `DELETE FROM ${name} WHERE false`)).toBe(isKept ? refused : 'ok');
    }
    // The console has no time of its own.
    if (schema !== 'console') expect(await says(schema, 'SELECT accord_now()')).toBe('ok');
  },
);

test.each(names.filter((name) => name !== 'console'))(
  '%s may only append to its audit log, seal lines and blank them',
  async (schema) => {
    for (const statement of [
      'UPDATE audit_log SET at = now() WHERE false',
      'UPDATE audit_log SET id = gen_random_uuid() WHERE false',
      'TRUNCATE audit_log',
      'ALTER TABLE audit_log DISABLE TRIGGER ALL',
    ])
      expect(await says(schema, statement), statement).toBe(refused);
    const blank = 'UPDATE audit_log SET actor = NULL, action = NULL, target = NULL WHERE false';
    expect(await says(schema, blank)).toBe('ok');
    expect(await says(schema, 'UPDATE audit_tree SET size = size')).toBe('ok');
  },
);

test.each(names)('%s may not make, change, empty or drop anything', async (schema) => {
  for (const statement of [
    'CREATE TABLE more (id integer)',
    `CREATE TABLE ${schema}.more (id integer)`,
    'CREATE TABLE public.more (id integer)',
    'CREATE SCHEMA more',
    'CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
    `ALTER TABLE ${schema}.migrations ADD more integer`,
    `DROP TABLE ${schema}.migrations`,
    `TRUNCATE ${schema}.migrations`,
    'CREATE ROLE more',
    `ALTER ROLE ${roleOf(schema)} CREATEROLE`,
    'CREATE DATABASE more',
    'CREATE EXTENSION pg_trgm',
    'SET ROLE accord',
    `COPY ${schema}.migrations TO PROGRAM 'true'`,
  ])
    expect([statement, await says(schema, statement)]).not.toEqual([statement, 'ok']);
});

test.each(names)('%s may not touch the record of what has been migrated', async (schema) => {
  for (const statement of [
    'DELETE FROM migrations',
    'UPDATE migrations SET version = 0',
    `INSERT INTO migrations (version, file, checksum) VALUES (99, '', '')`,
  ])
    expect(await says(schema, statement)).toBe(refused);
});

test.each(names)('%s sees nothing of the other services', async (schema) => {
  for (const other of names.filter((name) => name !== schema)) {
    expect(await says(schema, `SELECT * FROM ${other}.migrations`)).toBe(refused);
    expect(await says(schema, `SELECT ${other}.accord_now()`)).toBe(refused);
  }
});

test('no table of a service can be emptied at one stroke or altered by it', async () => {
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  const { rows } = await owner
    .query(
      `SELECT t.schemaname || '.' || t.tablename AS name, r.rolname AS role
         FROM pg_tables AS t CROSS JOIN pg_roles AS r
        WHERE t.schemaname = ANY($1) AND r.rolname = ANY($2)
          AND has_table_privilege(r.oid, format('%I.%I', t.schemaname, t.tablename), 'TRUNCATE, REFERENCES, TRIGGER')`,
      [names, names.map(roleOf)],
    )
    .finally(() => owner.end());
  expect(rows).toEqual([]);
});
