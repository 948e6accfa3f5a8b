import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { databaseLogins } from '#lib/config/secret-files.ts';
import { waitForSchema } from '#lib/db/migrate.ts';
import { createPool, type PoolOptions } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { authService } from '../../services/auth/service.ts';
import { definitions } from '../../services/definitions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestPostgres, type TestPostgres } from '../support/stores/own-postgres.ts';

const log = createLogger({ level: 'silent' });

// A server of its own: it asks services for passwords, and its roles are nobody else's.
let server: TestPostgres;
beforeEach(async () => {
  server = await createTestPostgres({ owner: 'accord', passwordsFor: 'services' });
});
afterEach(() => server.stop());

const migrate = (env: Record<string, string> = {}) =>
  runCommand('services/migrate.ts', [], { env: { DATABASE_URL: server.url, LOG_LEVEL: 'info', ...env } });

async function signIn(schema: string, password: string): Promise<string> {
  const url = new URL(server.url);
  url.username = roleOf(schema);
  url.password = password;
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query('SELECT current_user AS name');
    return rows[0].name;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
}

/** A folder with a password for every service, as `npm run secrets` draws them. */
async function secretsWith(...words: string[]): Promise<string> {
  const folder = await temporaryFolder();
  for (const { name: schema } of definitions)
    await writeFile(
      path.join(folder, `database-${schema}`),
      words.map((word) => `${word}-of-${schema}\n`).join(''),
    );
  return folder;
}

test('one command makes every schema and a role for each service, with the password of its file', async () => {
  const run = await migrate({ SECRETS_DIR: await secretsWith('first') });
  expect(run).toMatchObject({ code: 0, output: 'Every schema is up to date.\n' });
  expect(run.errors).not.toContain('first-of');
  for (const { name: schema } of definitions) {
    expect(await signIn(schema, `first-of-${schema}`)).toBe(roleOf(schema));
    expect(await signIn(schema, 'another')).toBe('28P01');
  }
});

test('the command can be repeated; it changes passwords only where a file gives one, and says so', async () => {
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  const again = await migrate();
  expect(again.code).toBe(0);
  expect(again.errors).toContain('password unchanged');
  expect(await signIn('auth', 'first-of-auth')).toBe('accord_auth');
  await migrate({ SECRETS_DIR: await secretsWith('second', 'first') });
  expect(await signIn('auth', 'first-of-auth')).toBe('28P01');
  expect(await signIn('auth', 'second-of-auth')).toBe('accord_auth');
});

test('a service whose file has two passwords opens connections before and after one of them becomes the other', async () => {
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  const login = { user: roleOf('auth'), name: 'auth' };
  const pools = await Promise.all(
    [secretsWith('first', 'second'), secretsWith('second', 'first')].map(async (secretsDir) =>
      startPool(
        await databaseLogins(server.url.replace('accord@', ''), { ...login, secretsDir: await secretsDir }),
      ),
    ),
  );
  /** Many at once, each over a connection of its own. */
  const openConnections = () =>
    Promise.all(
      pools.flatMap((pool) => Array.from({ length: 10 }, () => pool.query('SELECT pg_sleep(0.01)'))),
    );
  const become = async (password: string) => {
    await server.asSuperuser(`ALTER ROLE ${login.user} PASSWORD '${password}'`);
    await server.asSuperuser(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${login.user}'`,
    );
    await expect.poll(() => pools.map(({ totalCount }) => totalCount)).toEqual([0, 0]);
  };
  await openConnections();
  for (const password of ['second-of-auth', 'first-of-auth']) {
    await become(password);
    await openConnections();
  }
  await become('third');
  for (const pool of pools) await expect(pool.connect()).rejects.toMatchObject({ code: '28P01' });
});

test('three commands at once wait for each other', async () => {
  const runs = await Promise.all([migrate(), migrate(), migrate()]);
  expect(runs.map(({ code, errors }) => [code, /fault|failed/.test(errors)])).toEqual(
    Array(3).fill([0, false]),
  );
});

test('no service may even make a temporary table', async () => {
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  const pool = poolOf('forms', 'first-of-forms');
  await expect(pool.query('CREATE TEMPORARY TABLE notes (id integer)')).rejects.toMatchObject({
    code: '42501',
  });
});

test('a role that may do more than a service must is refused by name', async () => {
  await server.asSuperuser('CREATE ROLE accord_auth LOGIN CREATEDB');
  expect(await migrate()).toMatchObject({
    code: 1,
    errors: expect.stringContaining('The role accord_auth has more rights than a service may have'),
  });
});

test('an owner who may not make roles is told what somebody else has to run', async () => {
  await server.asSuperuser('ALTER ROLE accord NOCREATEROLE');
  expect(await migrate()).toMatchObject({
    code: 1,
    errors: expect.stringContaining('CREATE ROLE accord_auth LOGIN'),
  });
  for (const { name: schema } of definitions) await server.asSuperuser(`CREATE ROLE ${roleOf(schema)} LOGIN`);
  expect(await migrate()).toMatchObject({ code: 0 });
});

test('a service waits until its schema is there', async () => {
  const pool = poolOf('auth', 'first-of-auth');
  const waiting = waitForSchema({ pool, schema: authService, log });
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  await waiting;
});

test('a service works on the schema of a later release', async () => {
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  const owner = startPool({ url: server.url, max: 1 });
  await owner.query("INSERT INTO migrations (version, file, checksum) VALUES (2, '0002_later.sql', 'later')");
  await waitForSchema({ pool: poolOf('auth', 'first-of-auth'), schema: authService, log });
  expect(await migrate()).toMatchObject({ code: 0 });
});

test('a service that waits in vain says for what, and what to do', async () => {
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  const pool = poolOf('auth', 'first-of-auth');
  const folder = await temporaryFolder();
  await cp(path.join(authService.folder, 'schema.sql'), path.join(folder, 'schema.sql'));
  await mkdir(path.join(folder, 'migrations'));
  await writeFile(path.join(folder, 'migrations', '0002_more.sql'), 'CREATE TABLE more (id integer)');
  const schema = { ...authService, folder };
  await expect(waitForSchema({ pool, schema, log, timeoutMs: 50 })).rejects.toThrow(
    /^The schema auth needs version 2, and it is at 1\. Run npm run migrate/,
  );
  const nobody = poolOf('auth', 'wrong');
  await expect(waitForSchema({ pool: nobody, schema: authService, log, timeoutMs: 50 })).rejects.toThrow(
    /the database cannot be used \(28P01\)/,
  );
});

test('a database of an unreleased commit is refused by the command and by services, and stays as it is', async () => {
  await migrate({ SECRETS_DIR: await secretsWith('first') });
  // Commits before the first release had numbered migrations only.
  const owner = startPool({ url: server.url, max: 1 });
  await owner.query(`
    UPDATE migrations SET file = '0001_auth.sql', checksum = repeat('0', 64);
    INSERT INTO migrations (version, file, checksum) VALUES (2, '0002_pairing_keys.sql', repeat('0', 64));
    DROP SCHEMA forms CASCADE`);
  const sentence =
    "The database of DATABASE_URL was made by an unreleased commit of Accord and cannot be changed into today's: " +
    'start with an empty one (another DATABASE_URL).';
  expect(await migrate()).toEqual({ code: 1, output: '', errors: `${sentence}\n` });
  const waiting = waitForSchema({ pool: poolOf('auth', 'first-of-auth'), schema: authService, log });
  await expect(waiting).rejects.toThrow(sentence);
  const { rows } = await owner.query("SELECT to_regnamespace('forms') AS forms");
  expect(rows).toEqual([{ forms: null }]);
});

test('without DATABASE_URL the command says what it needs', async () => {
  expect(await runCommand('services/migrate.ts', [], { env: {} })).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/DATABASE_URL: is required/),
  });
});

function poolOf(schema: string, password: string): pg.Pool {
  const url = new URL(server.url);
  url.username = roleOf(schema);
  url.password = password;
  return startPool({ url: url.href, schema, max: 1 });
}

function startPool(
  options: Pick<PoolOptions, 'url' | 'otherPasswords' | 'max'> & { schema?: string },
): pg.Pool {
  const pool = createPool({ schema: 'auth', log, ...options });
  onTestFinished(() => pool.end());
  return pool;
}
