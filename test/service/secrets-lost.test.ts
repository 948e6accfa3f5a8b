import { chmod, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

function start(dataDir: string) {
  const accord = startStandalone({ DATABASE_URL: database.url, DATA_DIR: dataDir });
  onTestFinished(async () => void (await accord.kill()));
  return accord;
}
const reachable = (url: string) => ({
  url,
  fetch: (to: string, init?: RequestInit) => fetch(new URL(to, url), init),
});

describe('Accord with a database that was used', { timeout: 60_000 }, () => {
  it('does not start with new secrets and says what to do', async () => {
    const dataDir = await temporaryFolder();
    const secrets = path.join(dataDir, 'secrets');
    const first = start(dataDir);
    const { key } = await createKey(reachable(await first.ready) as never);
    expect((await first.stop()).code).toBe(0);

    await rename(secrets, path.join(dataDir, 'kept'));
    const refused = await start(dataDir).ended;
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.errors).toContain(
      'This database was used with other secrets. Restore them from their backup.',
    );
    expect(refused.errors).toContain(`npm run secrets -- ${secrets}`);
    expect(refused.errors).toContain('instance-signing: is missing');
    expect(await readdir(dataDir)).not.toContain('secrets');

    await rename(path.join(dataDir, 'kept'), secrets);
    const again = start(dataDir);
    const url = await again.ready;
    expect((await fetch(new URL('/webhooks', url), { headers: { CM_KEY: key } })).status).toBe(200);
    await again.stop();

    await rm(path.join(secrets, 'instance-signing'));
    const partly = await start(dataDir).ended;
    expect(partly.code).toBe(1);
    expect(partly.errors).toContain('instance-signing: is missing');
    expect(partly.errors).not.toContain('key-pepper');

    // The deliberate way.
    const made = await runCommand('services/secrets.ts', [secrets], { env: {} });
    expect(made.code).toBe(0);
    const changed = start(dataDir);
    await changed.ready;
    expect((await changed.stop()).code).toBe(0);
  });

  it('generates the secret of a client that an earlier release did not have, as nothing stored depends on it', async () => {
    const fresh = await createTestDatabase();
    onTestFinished(() => fresh.drop());
    const dataDir = await temporaryFolder();
    const settings = { DATABASE_URL: fresh.url, DATA_DIR: dataDir };
    const first = startStandalone(settings);
    await createKey(reachable(await first.ready) as never);
    await first.stop();
    await rm(path.join(dataDir, 'secrets', 'console-client'));
    const second = startStandalone(settings);
    await second.ready;
    expect((await second.stop()).code).toBe(0);
    expect(await readdir(path.join(dataDir, 'secrets'))).toContain('console-client');
  });

  it('warns of every secret file that others on the machine may read', async () => {
    const fresh = await createTestDatabase();
    onTestFinished(() => fresh.drop());
    const dataDir = await temporaryFolder();
    const settings = { DATABASE_URL: fresh.url, DATA_DIR: dataDir };
    const first = startStandalone(settings);
    await first.ready;
    expect((await first.stop()).errors).not.toContain('0600');
    await chmod(path.join(dataDir, 'secrets', 'key-pepper'), 0o644);
    await chmod(path.join(dataDir, 'secrets', 'issuer-signing'), 0o640);
    const second = startStandalone(settings);
    await second.ready;
    const { errors } = await second.stop();
    const named = errors.split('\n').filter((line) => line.includes('0600'));
    expect(named).toHaveLength(2);
    for (const file of ['key-pepper', 'issuer-signing'])
      expect(named.join('\n')).toContain(`file ${file} is`);
    for (const line of named) expect(JSON.parse(line)).toMatchObject({ level: 'warn' });
  });
});
