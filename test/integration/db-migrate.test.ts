import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '#lib/db/migrate.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
let target: TestDatabase;
let folder: string;

beforeEach(async () => {
  target = await createTestDatabase();
  folder = path.join(await temporaryFolder(), 'migrations');
  await mkdir(folder);
});
afterEach(() => target.drop());

const write = (file: string, text: string) => writeFile(path.join(folder, file), text);
const run = (schema = 'kernel') => migrate({ url: target.url, schemas: [{ schema, folder }], log });

async function rows(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
}

test('migrations are applied in order, in the service’s schema, each once', async () => {
  await write(
    '0001_things.sql',
    'CREATE TABLE things (id integer PRIMARY KEY); INSERT INTO things VALUES (1);',
  );
  await write('0002_more.sql', 'INSERT INTO things SELECT max(id) + 1 FROM things;');
  await run();
  await run();
  expect(await rows('SELECT id FROM kernel.things ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await rows('SELECT version, file FROM kernel.migrations ORDER BY version')).toEqual([
    { version: 1, file: '0001_things.sql' },
    { version: 2, file: '0002_more.sql' },
  ]);
  await write('0003_later.sql', 'INSERT INTO things VALUES (30);');
  await run();
  expect(await rows('SELECT id FROM kernel.things WHERE id = 30')).toHaveLength(1);
});

test('every schema has its own migrations', async () => {
  await write('0001_things.sql', 'CREATE TABLE things (id integer)');
  await run('one');
  await run('two');
  expect(
    await rows(`SELECT 1 FROM pg_tables WHERE tablename = 'things' AND schemaname IN ('one', 'two')`),
  ).toHaveLength(2);
});

test('a migration that was edited after it ran is refused by name', async () => {
  await write('0001_things.sql', 'CREATE TABLE things (id integer)');
  await run();
  await write('0001_things.sql', 'CREATE TABLE things (id bigint)');
  await write('0002_more.sql', 'CREATE TABLE more (id integer)');
  await expect(run()).rejects.toThrow(StartupError);
  await expect(run()).rejects.toThrow(/0001_things\.sql of kernel was edited after it had been applied/);
  expect(await rows(`SELECT to_regclass('kernel.more') AS found`)).toEqual([{ found: null }]);
});

test('line ends of another system are not an edit', async () => {
  await write('0001_things.sql', 'CREATE TABLE things\n(id integer)');
  await run();
  await write('0001_things.sql', 'CREATE TABLE things\r\n(id integer)');
  await run();
});

test('a migration that fails leaves nothing of itself and can be put right', async () => {
  await write('0001_things.sql', 'CREATE TABLE things (id integer)');
  await write('0002_more.sql', 'CREATE TABLE more (id integer); SELECT 1 / 0;');
  await expect(run()).rejects.toThrow(/0002_more\.sql of kernel failed: division by zero/);
  expect(await rows(`SELECT to_regclass('kernel.more') AS found`)).toEqual([{ found: null }]);
  await write('0002_more.sql', 'CREATE TABLE more (id integer)');
  await run();
  expect(await rows('SELECT version FROM kernel.migrations')).toHaveLength(2);
});

test.each(['0002_gap.sql', '1_short.sql', '0001 space.sql', '0001.do.dots.sql'])(
  'a migration named %s is refused',
  async (name) => {
    await write(name, 'SELECT 1');
    await expect(run()).rejects.toThrow(/is misnamed: number 0001/);
  },
);

test('a database that is ahead of this code is left alone', async () => {
  await write('0001_things.sql', 'CREATE TABLE things (id integer)');
  await write('0002_more.sql', 'CREATE TABLE more (id integer)');
  await run();
  await rm(path.join(folder, '0002_more.sql'));
  await run();
});

test('of several processes that migrate at once, one does it', async () => {
  await write('0001_things.sql', 'CREATE TABLE things (id integer); SELECT pg_sleep(0.1);');
  await write('0002_more.sql', 'INSERT INTO things VALUES (1)');
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
