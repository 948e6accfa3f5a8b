import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { rotateInstanceKeys } from '#lib/config/rotate-instance-keys.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const runKeys = (args: string[], env: Record<string, string> = {}) =>
  runCommand('services/keys.ts', args, { env });
const day = 86_400_000;

async function newSecrets(): Promise<string> {
  const folder = path.join(await temporaryFolder(), 'secrets');
  await loadSecrets({ folder, generate: true });
  return folder;
}
const keysIn = async (folder: string) => {
  const names = ['instanceSigning', 'instanceSealing'] as const;
  const { instanceSigning, instanceSealing } = await loadSecrets({ folder, names, generate: false });
  return { signing: instanceSigning.map(({ kid }) => kid), sealing: instanceSealing.map(({ kid }) => kid) };
};

test('npm run keys -- rotate puts new keys before the old ones, for their owner alone', async () => {
  const folder = await newSecrets();
  const before = await keysIn(folder);
  const { code, output } = await runKeys(['rotate'], { SECRETS_DIR: folder });
  expect(code).toBe(0);
  const after = await keysIn(folder);
  expect(after.signing.slice(1)).toEqual(before.signing);
  expect(after.sealing.slice(1)).toEqual(before.sealing);
  expect(output).toContain(after.signing[0] as string);
  expect(output).toContain(after.sealing[0] as string);
  for (const file of ['instance-signing', 'instance-sealing'])
    expect((await stat(path.join(folder, file))).mode & 0o777, file).toBe(0o600);
  expect(output).not.toContain('"d"');
});

test('a sealing key stays for as long as something sealed to it may be on its way, a signing key for good', async () => {
  const folder = await newSecrets();
  const [first] = (await keysIn(folder)).sealing;
  const start = Date.parse('2026-01-01T00:00:00Z');
  expect((await rotateInstanceKeys(folder, new Date(start))).dropped).toEqual([]);
  expect((await rotateInstanceKeys(folder, new Date(start + 151 * day))).dropped).toEqual([]);
  expect((await rotateInstanceKeys(folder, new Date(start + 153 * day))).dropped).toEqual([first]);
  const { signing, sealing } = await keysIn(folder);
  expect(signing).toHaveLength(4);
  expect(sealing).toHaveLength(3);
  expect(sealing).not.toContain(first);
});

test('npm run keys makes no more keys than peers take', async () => {
  const folder = await newSecrets();
  for (let times = 0; times < 7; times += 1) await rotateInstanceKeys(folder, new Date());
  const { code, errors } = await runKeys(['rotate', folder]);
  expect(code).toBe(1);
  expect(errors).toContain('may publish 16 keys');
  expect((await keysIn(folder)).signing).toHaveLength(8);
});

test('npm run keys changes nothing where there is nothing sound', async () => {
  const folder = await temporaryFolder();
  expect(await runKeys(['rotate', folder])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('start the instance once'),
  });
  const broken = await newSecrets();
  await writeFile(path.join(broken, 'instance-sealing'), 'nonsense\n');
  const before = await readFile(path.join(broken, 'instance-signing'), 'utf8');
  expect(await runKeys(['rotate', broken])).toMatchObject({ code: 1, output: '' });
  expect(await readFile(path.join(broken, 'instance-signing'), 'utf8')).toBe(before);
});

test('npm run keys without a command says how it is used', async () => {
  for (const args of [[], ['turn'], ['rotate', '/tmp', 'more']])
    expect(await runKeys(args)).toMatchObject({ code: 1, errors: expect.stringContaining('Usage:') });
});
