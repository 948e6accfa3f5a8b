import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rotateInstanceKeys } from '#lib/config/rotate-instance-keys.ts';
import { generatePrivateKey, generateSharedSecret } from '#lib/config/secret-values.ts';
import { release, services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';
import { withoutFailure } from './under-load.ts';

/** The entries of the Secret of a release. */
export const rotationScenario: Scenario = {
  name: 'rotation',
  promise:
    'Every secret of the release, with the passwords of the services in the database, is rotated without a failed request. Old lines stay as long as something depends on them.',
  run: (stage) =>
    withoutFailure(stage, async () => {
      const present = Object.keys(await readSecrets(stage)).sort();
      const rotated = [...shared, 'issuer-signing', ...instanceKeys].sort();
      expectThat(present.join() === rotated.join(), `rotated: ${rotated}; in the Secret: ${present}`);
      for (const order of ['after', 'before', 'alone'] as const) {
        await changeSecrets(stage, order);
        await stage.organisation.deploy();
      }
      await rotateKeys(stage);
    }),
};

/** Entries with a random text. */
const shared = [
  ...services.flatMap((service) => [`internal-${service}`, `database-${service}`]),
  'issuer-cookies',
  'console-client',
  'console-session',
  'transaction-token',
  'key-pepper',
  'webhook-sealing',
  'document-sealing',
  'erasure-pepper',
];
/** Entries that `accord keys` rotates. */
const instanceKeys = ['instance-signing', 'instance-sealing'];
/**
 * Entries whose old line stays when this test ends, because something depends on it for five minutes or
 * longer (the table of docs/operations.md, "Secrets").
 */
const neededLonger = [
  'transaction-token',
  'key-pepper',
  'webhook-sealing',
  'document-sealing',
  'erasure-pepper',
  'console-session',
  'issuer-cookies',
  'issuer-signing',
];

/**
 * Adds a new entry after the old one, moves it before, or leaves it alone (docs/operations.md, "Secrets").
 */
async function changeSecrets(stage: Stage, order: 'after' | 'before' | 'alone'): Promise<void> {
  const present = await readSecrets(stage);
  const changed: Record<string, string[]> = {};
  for (const entry of [...shared, 'issuer-signing']) {
    const lines = present[entry] ?? [];
    const generate = entry === 'issuer-signing' ? generatePrivateKey : generateSharedSecret;
    if (order === 'after') changed[entry] = [...lines, generate()];
    else if (order === 'before') changed[entry] = lines.toReversed();
    else if (!neededLonger.includes(entry)) changed[entry] = lines.slice(0, 1);
  }
  await writeSecrets(stage, changed);
}

/** Replaces the keys of the instance: first in transactions, which decrypts what is sent to the new key. */
async function rotateKeys(stage: Stage): Promise<void> {
  const present = await readSecrets(stage);
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-rotation-'));
  const file = (entry: string) => path.join(folder, entry);
  try {
    for (const entry of instanceKeys)
      await writeFile(file(entry), `${present[entry]?.join('\n')}\n`, { mode: 0o600 });
    await rotateInstanceKeys(folder, new Date());
    const changed = instanceKeys.map(async (entry) => [entry, linesOf(await readFile(file(entry), 'utf8'))]);
    await writeSecrets(stage, Object.fromEntries(await Promise.all(changed)));
  } finally {
    await rm(folder, { recursive: true });
  }
  const { kubectl } = stage.organisation;
  await kubectl('rollout', 'restart', `deploy/${release}-transactions`);
  await kubectl('rollout', 'status', `deploy/${release}-transactions`, '--timeout=180s');
  await kubectl('rollout', 'restart', `deploy/${release}-peers`);
  await kubectl('rollout', 'status', `deploy/${release}-peers`, '--timeout=180s');
}

async function readSecrets({ organisation }: Stage): Promise<Record<string, string[]>> {
  const { data } = JSON.parse(
    await organisation.kubectl('get', 'secret', `${release}-secrets`, '--output=json'),
  ) as { data: Record<string, string> };
  const decoded = Object.entries(data).map(([entry, text]) => [
    entry,
    linesOf(Buffer.from(text, 'base64').toString('utf8')),
  ]);
  return Object.fromEntries(decoded);
}

async function writeSecrets({ organisation }: Stage, entries: Record<string, string[]>): Promise<void> {
  const stringData = Object.fromEntries(
    Object.entries(entries).map(([entry, lines]) => [entry, `${lines.join('\n')}\n`]),
  );
  const patch = JSON.stringify({ stringData });
  await organisation.kubectl('patch', 'secret', `${release}-secrets`, `--patch=${patch}`);
}

function linesOf(text: string): string[] {
  return text.trim().split('\n');
}
