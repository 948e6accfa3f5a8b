import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '#lib/db/migrate.ts';
import type { ServiceSchema } from '#lib/db/schema-versions.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
let target: TestDatabase;
let folder: string;

beforeEach(async () => {
  target = await createTestDatabase();
  folder = await temporaryFolder();
  await mkdir(path.join(folder, 'migrations'));
  await write('schema.sql', 'CREATE TABLE things (id integer PRIMARY KEY)');
});
afterEach(() => target.drop());

const write = (file: string, text: string) => writeFile(path.join(folder, file), text);
const change = (file: string, text: string) => write(path.join('migrations', file), text);
const run = (given: Partial<ServiceSchema> = {}) =>
  migrate({ url: target.url, schemas: [{ name: 'kernel', tables: [], folder, ...given }], log });

async function rows(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
}

test('the schema is created and its migrations are applied in order, each once', async () => {
  await change('0002_more.sql', 'INSERT INTO things VALUES (1)');
  await change('0003_again.sql', 'INSERT INTO things SELECT max(id) + 1 FROM things');
  await run();
  await run();
  expect(await rows('SELECT id FROM kernel.things ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await rows('SELECT version, file FROM kernel.migrations ORDER BY version')).toEqual([
    { version: 1, file: 'schema.sql' },
    { version: 2, file: '0002_more.sql' },
    { version: 3, file: '0003_again.sql' },
  ]);
  await change('0004_later.sql', 'INSERT INTO things VALUES (30)');
  await run();
  expect(await rows('SELECT id FROM kernel.things WHERE id = 30')).toHaveLength(1);
});

test('a service without changes since the first release has no folder of migrations', async () => {
  await rm(path.join(folder, 'migrations'), { recursive: true });
  await run();
  expect(await rows('SELECT version FROM kernel.migrations')).toEqual([{ version: 1 }]);
});

test('every service has its own schema, with its copy of shared tables', async () => {
  for (const name of ['one', 'two']) await run({ name, tables: ['events', 'inbox', 'audit'] });
  const names = [
    'audit_log',
    'audit_nodes',
    'audit_tree',
    'dead_letters',
    'inbox',
    'outbox',
    'outbox_sent',
    'things',
  ];
  for (const name of ['one', 'two'])
    expect(
      await rows(`SELECT tablename FROM pg_tables WHERE schemaname = '${name}' AND tablename <> 'migrations'
                   ORDER BY tablename`),
    ).toEqual(names.map((tablename) => ({ tablename })));
});

test('a migration that was edited after it ran is refused by name', async () => {
  await change('0002_more.sql', 'CREATE TABLE more (id integer)');
  await run();
  await change('0002_more.sql', 'CREATE TABLE more (id bigint)');
  await change('0003_last.sql', 'CREATE TABLE last (id integer)');
  await expect(run()).rejects.toThrow(StartupError);
  await expect(run()).rejects.toThrow(/0002_more\.sql of kernel was edited after it had been applied/);
  expect(await rows(`SELECT to_regclass('kernel.last') AS found`)).toEqual([{ found: null }]);
});

test('line ends of another system are not an edit', async () => {
  await write('schema.sql', 'CREATE TABLE things\n(id integer)');
  await run();
  await write('schema.sql', 'CREATE TABLE things\r\n(id integer)');
  await run();
});

test('a schema that fails leaves nothing of itself', async () => {
  await write('schema.sql', 'CREATE TABLE things (id integer); SELECT 1 / 0;');
  await expect(run()).rejects.toThrow(/schema\.sql of kernel failed: division by zero/);
  expect(await rows(`SELECT to_regnamespace('kernel') AS found`)).toEqual([{ found: null }]);
});

test('a migration that fails leaves nothing of itself and can be put right', async () => {
  await change('0002_more.sql', 'CREATE TABLE more (id integer); SELECT 1 / 0;');
  await expect(run()).rejects.toThrow(/0002_more\.sql of kernel failed: division by zero/);
  expect(await rows(`SELECT to_regclass('kernel.more') AS found`)).toEqual([{ found: null }]);
  await change('0002_more.sql', 'CREATE TABLE more (id integer)');
  await run();
  expect(await rows('SELECT version FROM kernel.migrations')).toHaveLength(2);
});

test.each(['0001_first.sql', '0003_gap.sql', '2_short.sql', '0002 space.sql', '0002.do.dots.sql'])(
  'a migration named %s is refused',
  async (name) => {
    await change(name, 'SELECT 1');
    await expect(run()).rejects.toThrow(/is misnamed: number 0002/);
  },
);

test('a database that is ahead of this code is left alone', async () => {
  await change('0002_more.sql', 'CREATE TABLE more (id integer)');
  await run();
  await rm(path.join(folder, 'migrations', '0002_more.sql'));
  await run();
});

test('of several processes that migrate at once, one does it', async () => {
  await write('schema.sql', 'CREATE TABLE things (id integer); SELECT pg_sleep(0.1);');
  await change('0002_more.sql', 'INSERT INTO things VALUES (1)');
  await Promise.all([run(), run(), run(), run()]);
  expect(await rows('SELECT id FROM kernel.things')).toEqual([{ id: 1 }]);
});

test('a database that cannot be reached is told in one sentence without its password', async () => {
  const url = new URL(target.url);
  url.port = '1';
  url.password = 'secret';
  const failure = await migrate({ url: url.href, schemas: [], log }).catch((error) => error);
  expect(failure).toBeInstanceOf(StartupError);
  expect(failure.message).toMatch(
    /^The database at 127\.0\.0\.1:1 \(DATABASE_URL\) cannot be used: .*ECONNREFUSED/,
  );
  expect(failure.message).not.toContain('secret');
});
