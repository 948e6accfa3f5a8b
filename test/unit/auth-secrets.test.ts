import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey, generateSharedSecret } from '#lib/config/secret-values.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { StartupError } from '#lib/errors/fail.ts';

const names = [
  'console-client',
  'console-session',
  'document-sealing',
  'erasure-pepper',
  'instance-sealing',
  'instance-signing',
  'issuer-cookies',
  'issuer-signing',
  'key-pepper',
  'transaction-token',
  'webhook-sealing',
];

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'accord-secrets-'));
  folder = path.join(parent, 'secrets');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const write = (name: string, content: string) => writeFile(path.join(folder, name), content);
const reasonOf = (generate: boolean) =>
  loadSecrets({ folder, generate, callers: ['forms'] }).then(
    () => 'none',
    (error: unknown) => {
      expect(error).toBeInstanceOf(StartupError);
      return (error as Error).message;
    },
  );

describe('secrets', () => {
  it('are made at the first start, for their owner alone, and stay', async () => {
    const first = await loadSecrets({ folder, generate: true });
    expect((await readdir(folder)).sort()).toEqual(names);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of names) expect((await stat(path.join(folder, name))).mode & 0o777).toBe(0o600);
    expect(await loadSecrets({ folder, generate: false })).toEqual(first);
  });

  it('are the same for starts at the same moment', async () => {
    const starts = await Promise.all(
      Array.from({ length: 6 }, () => loadSecrets({ folder, generate: true })),
    );
    for (const start of starts) expect(start).toEqual(starts[0]);
    expect((await readdir(folder)).sort()).toEqual(names);
  });

  it('may have several entries: the first signs, all verify', async () => {
    await loadSecrets({ folder, generate: true });
    const [signing, pepper] = [generatePrivateKey(), generateSharedSecret()];
    await write(
      'issuer-signing',
      `${signing}\n${await readFile(path.join(folder, 'issuer-signing'), 'utf8')}`,
    );
    await write('key-pepper', `${pepper}\r\n\n${await readFile(path.join(folder, 'key-pepper'), 'utf8')}`);
    const { issuerSigning, keyPepper } = await loadSecrets({ folder, generate: false });
    expect(issuerSigning.map(({ d }) => d)).toEqual([JSON.parse(signing).d, expect.any(String)]);
    expect(keyPepper.map((entry) => Buffer.from(entry).toString())).toEqual([pepper, expect.any(String)]);
  });

  it('of the console’s client may be empty or short, because an outside issuer decides on it', async () => {
    await loadSecrets({ folder, generate: true });
    for (const [content, entries] of [
      ['', []],
      ['short\n', ['short']],
    ] as const) {
      await write('console-client', content);
      expect(await loadSecrets({ folder, generate: false })).toMatchObject({ consoleClient: entries });
    }
  });

  it('that are missing are all named where nothing is made', async () => {
    const reason = await reasonOf(false);
    for (const name of [...names, 'internal-forms']) expect(reason).toContain(`${name}: is missing`);
    expect(reason).toContain(`npm run secrets -- ${folder}`);
  });

  it('are read by a process only as far as it needs them', async () => {
    await loadSecrets({ folder, names: ['keyPepper'], callers: ['forms', 'peers'], generate: true });
    expect((await readdir(folder)).sort()).toEqual(['internal-forms', 'internal-peers', 'key-pepper']);
    const { callers } = await loadSecrets({ folder, names: [], callers: ['peers'], generate: false });
    expect(Object.keys(callers)).toEqual(['peers']);
  });

  it('that are short, examples or broken are all named, and never shown', async () => {
    await mkdir(folder);
    const example = { kty: 'EC', crv: 'P-256', d: '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE' };
    const [one, other] = [JSON.parse(generatePrivateKey()), JSON.parse(generatePrivateKey())];
    await write('transaction-token', 'tooshort-canary');
    await write('key-pepper', 'change-me-change-me-change-me-change-me');
    await write('issuer-cookies', `${generateSharedSecret()}\n${'a1'.repeat(30)}`);
    await write('internal-forms', '');
    await write('issuer-signing', JSON.stringify(example));
    await write('instance-signing', 'no JSON canary');
    await write('instance-sealing', JSON.stringify({ ...one, x: other.x, y: other.y }));
    const reason = await reasonOf(true);
    expect(reason).toContain('transaction-token, entry 1: is 15 bytes long and must be at least 32');
    expect(reason).toContain('key-pepper, entry 1: looks like an example');
    expect(reason).toContain('issuer-cookies, entry 2: looks like an example');
    expect(reason).toContain('internal-forms: is empty');
    expect(reason).toContain('issuer-signing, entry 1: is a published example key');
    expect(reason).toContain('instance-signing, entry 1: must be a JWK');
    expect(reason).toContain('instance-sealing, entry 1: ');
    expect(reason).not.toMatch(/canary|870MB/);
  });

  it.runIf(process.getuid?.() !== 0)('that cannot be read are told in one sentence', async () => {
    await loadSecrets({ folder, generate: true });
    await chmod(path.join(folder, 'issuer-cookies'), 0);
    expect(await reasonOf(true)).toMatch(/The secret .*issuer-cookies cannot be read \(EACCES\)\./);
  });
});
