import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';
import { startForTest } from '../support/stores/postgres-program-runner.ts';

const password = 'correct horse battery';
const account = (env: Record<string, string>, ...args: string[]) =>
  runCommand('services/auth/account.ts', args, { env, input: `${password}\n` });

describe('npm run account', () => {
  let under: AuthUnderTest;
  let env: Record<string, string>;
  beforeAll(async () => {
    under = await startAuth({ settings: { demo: false } });
    env = { DATABASE_URL: under.databaseUrl };
  });
  afterAll(() => under.stop());

  it('creates an account while Accord is running', async () => {
    const made = await account(env, 'add', 'jane', '--role', 'operator');
    expect(made).toEqual({
      code: 0,
      output: 'Created the account jane with the role operator.\n',
      errors: '',
    });
    expect(await under.tokenOf('jane', password)).toMatch(/^ey/);
  });

  it('lists accounts, changes a password and removes an account', async () => {
    await account(env, 'add', 'joe', '--role', 'admin');
    expect((await account(env, 'list')).output).toContain('joe\tadmin\n');
    const changed = await runCommand('services/auth/account.ts', ['password', 'joe'], {
      env,
      input: 'another long phrase\n',
    });
    expect(changed).toMatchObject({ code: 0, output: 'Changed the password of joe.\n' });
    await expect(under.tokenOf('joe', password)).rejects.toThrow('invalid_grant');
    expect(await under.tokenOf('joe', 'another long phrase')).toMatch(/^ey/);
    expect((await account(env, 'remove', 'joe')).code).toBe(0);
    await expect(under.tokenOf('joe', 'another long phrase')).rejects.toThrow('invalid_grant');
  });

  it('prints its usage or the error and exits with 1', async () => {
    const faults: [args: string[], reason: RegExp][] = [
      [[], /^Usage:/],
      [['remove', 'nobody'], /^There is no account named nobody\.\n$/],
    ];
    for (const [args, reason] of faults) {
      const { code, output, errors } = await account(env, ...args);
      expect([code, output]).toEqual([1, '']);
      expect(errors).toMatch(reason);
      expect(errors).not.toMatch(/\n\s+at /);
    }
  });

  it('rejects a short password and an existing name', async () => {
    const short = await runCommand('services/auth/account.ts', ['add', 'kim', '--role', 'user'], {
      env,
      input: 'short\n',
    });
    expect([short.code, short.errors]).toEqual([
      1,
      'The password must have at least 12 characters. Nothing was changed.\n',
    ]);
    await account(env, 'add', 'kim', '--role', 'user');
    const twice = await account(env, 'add', 'kim', '--role', 'admin');
    expect([twice.code, twice.errors]).toEqual([
      1,
      'An account named kim already exists, or one whose name looks like it; nothing was changed.\n',
    ]);
  });

  it('reports an unreachable database in one sentence', async () => {
    const { code, errors } = await account({ DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c' }, 'list');
    expect(code).toBe(1);
    expect(errors).toMatch(/^The database at 127\.0\.0\.1:1 .*\n$/);
  });
});

describe('npm run client', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('creates clients and prints a secret once', async () => {
    const folder = await temporaryFolder();
    const env = { DATABASE_URL: database.url, DATA_DIR: folder };
    const client = (...args: string[]) => runCommand('services/auth/client.ts', args, { env });
    const made = await client('add', 'robot', '--role', 'operator');
    expect(made.output).toMatch(
      /^Created the client robot\. Its secret, which is not shown again:\n[\w-]{43}\n$/,
    );
    const open = await client(
      'add',
      'phone',
      '--public',
      '--redirect-uri',
      'https://phone.example/a',
      '--redirect-uri',
      'https://phone.example/b',
    );
    expect(open.output).toBe('Created the public client phone. It has no secret.\n');
    expect((await client('list')).output).toBe(
      'phone\t-\thttps://phone.example/a\thttps://phone.example/b\nrobot\toperator\n',
    );
    expect((await client('remove', 'robot')).code).toBe(0);
    expect((await client('add', 'x', '--role', 'root')).errors).toMatch(/^--role must be/);
  });
});

it('the commands use the embedded database, whether Accord is running or not', {
  timeout: 60_000,
}, async () => {
  const folder = await temporaryFolder();
  const dataDir = path.join(folder, 'data');
  const env = { DATA_DIR: dataDir };
  const before = await account(env, 'add', 'before', '--role', 'admin');
  expect(before).toEqual({
    code: 0,
    output: 'Created the account before with the role admin.\n',
    errors: '',
  });
  const program = startForTest({ dataDir });
  await program.ready;
  expect((await account(env, 'add', 'during', '--role', 'user')).code).toBe(0);
  expect((await program.stop()).code).toBe(0);
  expect((await account(env, 'list')).output).toBe('before\tadmin\nduring\tuser\n');
});
