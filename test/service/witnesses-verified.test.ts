import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { writeManifest } from '#lib/evidence/manifest.ts';
import { exportEvidence } from '../support/evidence/export-evidence.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { setWitness } from '../support/peers/live-witnesses.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';

type Checkpoint = components['schemas']['Checkpoint'];

let clinic: TestInstance;
let witnesses: TestInstance[];
beforeAll(async () => {
  const [first, ...others] = await Promise.all(Array.from({ length: 3 }, () => startTestInstance()));
  clinic = first as TestInstance;
  witnesses = others;
}, 120_000);
afterAll(() => Promise.all([clinic, ...(witnesses ?? [])].map((each) => each?.stop())));

const verify = (...args: string[]) => runCommand('services/verify.ts', args, { env: {} });
const keyOf = async (witness: TestInstance) =>
  ((await (await witness.fetch('/.well-known/accord')).json()) as components['schemas']['Instance']).notes
    ?.witness[0] ?? '';

it('an export proves its two witnesses offline, and says clearly what is missing, wrong or unknown', {
  timeout: 120_000,
}, async () => {
  const admin = await signIn(clinic, 'admin');
  for (const witness of witnesses) {
    const peers = await pairInstances(clinic, witness);
    await setWitness(await signIn(witness, 'admin'), peers.here, true);
    await setWitness(admin, peers.there, true);
  }
  const shop = await createKey(clinic);
  await recordAnswers(shop, 'ann', { [letter]: ['accepted'] });
  const folder = await until(async () => {
    const found = await exportEvidence(clinic, admin, 1);
    expect(await verify(found, '--witnesses', '2')).toMatchObject({ code: 0, errors: '' });
    return found;
  });
  const keys = await Promise.all(witnesses.map(keyOf));
  const trusted = keys.flatMap((key) => ['--witness', key]);
  expect(await verify(folder, '--witnesses', '2', ...trusted)).toMatchObject({
    code: 0,
    errors: '',
    output: expect.stringContaining('The newest heads are cosigned by 2 witnesses that you gave.'),
  });
  expect((await verify(folder, '--witnesses', '2')).output).toContain('of unknown origin');
  expect(await verify(folder, '--witnesses', '3')).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/^The newest head of \w+ is cosigned by 2 of the 3 witnesses that you ask/),
  });

  const [oneKey = '', otherKey = ''] = keys;
  const named = (key: string) => key.split('+')[0] ?? '';
  expect(await verify(folder, '--witnesses', '2', '--witness', oneKey)).toMatchObject({
    code: 1,
    errors: expect.stringContaining(
      `cosigned by 1 of the 2 witnesses that you ask for. You did not give the keys of ${named(otherKey)}, which`,
    ),
  });
  expect(await verify(folder, '--witnesses', '1', '--witness', await keyOf(clinic))).toMatchObject({
    code: 1,
    errors: expect.stringContaining(
      'cosigned by 0 of the 1 witnesses that you ask for. You did not give the',
    ),
  });

  /** A copy whose newest checkpoint has other cosignatures. */
  const changed = async (edit: (cosignatures: NonNullable<Checkpoint['cosignatures']>) => unknown[]) => {
    const copy = path.join(await temporaryFolder(), 'copy');
    await cp(folder, copy, { recursive: true });
    const file = path.join(copy, 'checkpoints.ndjson');
    const [first = '', ...rest] = (await readFile(file, 'utf8')).split('\n');
    const { at, cosignatures = [], jws, logs } = JSON.parse(first) as Checkpoint;
    const edited = JSON.stringify({ at, cosignatures: edit(cosignatures), jws, logs });
    await writeFile(file, [edited, ...rest].join('\n'));
    await writeManifest(copy);
    return copy;
  };
  const missing = await changed((all) =>
    all.filter(({ area, witness }) => area !== 'auth' || witness !== otherKey),
  );
  expect(await verify(missing, '--witnesses', '2')).toMatchObject({
    code: 1,
    errors:
      'The newest head of auth is cosigned by 1 of the 2 witnesses that you ask for. Witnesses sign within about a minute: export again later.\n',
  });
  expect(await verify(missing, '--witnesses', '1')).toMatchObject({ code: 0 });
  // One under the head of another log.
  const wrong = await changed((all) => {
    const other = all.find(({ area, witness }) => area === 'consents' && witness === oneKey);
    return all.map((each) =>
      each.area === 'auth' && each.witness === oneKey ? { ...each, signature: other?.signature } : each,
    );
  });
  expect(await verify(wrong)).toMatchObject({
    code: 1,
    errors: `checkpoints.ndjson, line 1: the cosignature of ${named(oneKey)} under the head of auth is not valid.\n`,
  });
  const twice = await changed((all) => all.flatMap((each) => [each, each]));
  expect(await verify(twice)).toMatchObject({ code: 1, errors: expect.stringContaining('in order') });
});
