import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadSecrets } from '#lib/config/secrets.ts';
import { definitions } from '../../services/definitions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const makeSecrets = (...args: string[]) => runCommand('services/secrets.ts', args, { env: {} });

test('npm run secrets makes what every service needs, for its owner alone, and leaves what is there', async () => {
  const folder = path.join(await temporaryFolder(), 'secrets');
  expect((await makeSecrets(folder)).code).toBe(0);
  for (const { name, secrets, callers } of definitions) {
    const who = [name, ...Object.values(callers).flat()];
    const loaded = await loadSecrets({ folder, names: secrets, callers: who, generate: false });
    expect(Object.keys(loaded.callers), name).toEqual([...new Set(who)]);
  }
  const contents = async () =>
    Promise.all((await readdir(folder)).sort().map((file) => readFile(path.join(folder, file), 'utf8')));
  const before = await contents();
  expect(new Set(before).size, 'each is another').toBe(before.length);
  for (const file of await readdir(folder))
    expect((await stat(path.join(folder, file))).mode & 0o777, file).toBe(0o600);
  expect((await makeSecrets(folder)).code).toBe(0);
  expect(await contents()).toEqual(before);
});

test('npm run secrets without a folder says how it is used', async () => {
  expect(await makeSecrets()).toEqual({
    code: 1,
    output: '',
    errors: 'Usage: npm run secrets -- <folder> [<folder of shares>]\n',
  });
});

test('npm run secrets gives each program a folder with its own secrets, and a changed secret again', async () => {
  const folder = await temporaryFolder();
  const [all, shares] = [path.join(folder, 'all'), path.join(folder, 'shares')];
  const files = async (program: string) => (await readdir(path.join(shares, program))).sort();
  const entry = (...place: string[]) => readFile(path.join(...place), 'utf8');
  expect((await makeSecrets(all, shares)).code).toBe(0);
  expect(await files('webhooks')).toEqual([
    'database-webhooks',
    'internal-peers',
    'internal-webhooks',
    'webhook-sealing',
  ]);
  const before = await entry(all, 'webhook-sealing');
  expect(await entry(shares, 'webhooks', 'webhook-sealing')).toBe(before);
  await writeFile(path.join(all, 'webhook-sealing'), `${await entry(all, 'key-pepper')}${before}`);
  await writeFile(path.join(shares, 'webhooks', 'key-pepper'), 'of an earlier release\n');
  expect((await makeSecrets(all, shares)).code).toBe(0);
  expect(await files('webhooks')).toEqual([
    'database-webhooks',
    'internal-peers',
    'internal-webhooks',
    'webhook-sealing',
  ]);
  expect(await entry(shares, 'webhooks', 'webhook-sealing')).toBe(await entry(all, 'webhook-sealing'));
  for (const file of await files('webhooks'))
    expect((await stat(path.join(shares, 'webhooks', file))).mode & 0o777, file).toBe(0o600);
});
