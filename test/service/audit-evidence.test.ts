import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { writeManifest } from '#lib/evidence/manifest.ts';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { verifyFolder } from '#lib/evidence/verify-folder.ts';
import { exportFolder } from '#lib/moving/export-folder.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';
import { changesOf } from '../support/evidence/folder-changes.ts';
import { readFiles, writeFolder } from '../support/evidence/folder-files.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

const receipts = 4;
const log = 'audit-consents.ndjson';
const given: string[] = [];
let folder: string;
const tokenOf = ({ headers }: { headers: Record<string, string> }) =>
  headers.Authorization?.replace('Bearer ', '') ?? '';
const exportTo = (to: string, { headers } = admin) => {
  const source = createInstanceClient({ url: instance.url, headers: async () => headers });
  return exportFolder({ source, folder: to });
};

beforeAll(async () => {
  for (let number = 0; number < receipts; number += 1)
    given.push((await recordAnswers(shop, `person-${number}`, { [letter]: ['accepted'] })).id);
  let minutes = 0;
  await until(async () => {
    minutes += 2;
    await letTimePass(instance, `${minutes} minutes`, 'peers');
    const { values } = (await (await admin.get('/audit/checkpoints')).json()) as {
      values: components['schemas']['Checkpoint'][];
    };
    expect(values[0]?.logs.consents?.size).toBeGreaterThanOrEqual(receipts);
  });
  // The oldest receipt is erased with its subject, and the first line of auth is blanked.
  expect((await admin.send('POST', '/subjects/person-0/erasure')).status).toBe(202);
  await until(async () => expect((await shop.get(`/receipts/${given[0]}`)).status).toBe(404));
  await runInDatabase(
    instance,
    `UPDATE auth.audit_log SET actor = NULL, actor_kind = NULL, action = NULL, target = NULL, request = NULL
      WHERE seq = 0`,
  );
  folder = await mkdtemp(path.join(tmpdir(), 'accord-evidence-'));
  await exportTo(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A copy of the folder. */
async function copyFolder(): Promise<string> {
  const copy = path.join(await temporaryFolder(), 'copy');
  await cp(folder, copy, { recursive: true });
  return copy;
}

async function change(file: string, edit: (text: string) => string): Promise<string> {
  const copy = await copyFolder();
  const text = await readFile(path.join(copy, file), 'utf8');
  const edited = edit(text);
  expect(edited).not.toBe(text);
  await writeFile(path.join(copy, file), edited);
  // The signatures alone must find what was changed.
  await writeManifest(copy);
  return copy;
}
const lines = (edit: (all: string[]) => string[]) => (text: string) =>
  edit(text.trimEnd().split('\n'))
    .map((line) => `${line}\n`)
    .join('');
const line = (at: number, edit: (value: Record<string, unknown>) => object) =>
  lines((all) => all.map((each, index) => (index === at ? JSON.stringify(edit(JSON.parse(each))) : each)));

describe('exported evidence', () => {
  it('proves every line and receipt, also with blanked lines and erased receipts', async () => {
    const found = await verifyFolder(folder);
    expect(found.receipts).toMatchObject({ proved: receipts - 1, erased: 1, unlogged: 0, notGiven: 0 });
    expect(found.logs.consents).toEqual({ lines: receipts, blanked: 0 });
    expect(found.logs.auth).toMatchObject({ blanked: expect.toSatisfy((count: number) => count > 0) });
    expect(await readFile(path.join(folder, 'audit-auth.ndjson'), 'utf8')).toMatch(
      /^\{[^}]*"leaf":"[0-9a-f]{64}"[^}]*\}\n/,
    );
  });

  it('agrees with checkpoints from elsewhere, and with none of another history', async () => {
    const held = path.join(await temporaryFolder(), 'held.ndjson');
    const text = await readFile(path.join(folder, 'checkpoints.ndjson'), 'utf8');
    await writeFile(held, text);
    const { checkpoints } = await verifyFolder(folder, { checkpointsFile: held });
    expect(checkpoints).toBe(2 * text.trimEnd().split('\n').length);
    await writeFile(held, text.replaceAll('"size":', '"size":1'));
    await expect(verifyFolder(folder, { checkpointsFile: held })).rejects.toThrow('held.ndjson');
  });

  it.each<[string, string, (text: string) => string, RegExp]>([
    [
      'a changed target',
      log,
      line(1, (value) => ({ ...value, target: 'transaction/other' })),
      /was changed|lacks the receipt/,
    ],
    ['a changed actor', log, line(1, (value) => ({ ...value, actor: 'other' })), /was changed/],
    [
      'a changed time',
      log,
      line(1, (value) => ({ ...value, at: '2026-01-01T00:00:00.000Z' })),
      /was changed/,
    ],
    [
      'a changed digest',
      log,
      line(1, (value) => ({ ...value, digest: '00'.repeat(32) })),
      /not the one that was logged/,
    ],
    ['a member that nobody signed', log, line(1, (value) => ({ ...value, note: 'x' })), /neither a line/],
    [
      'a changed hash of a blanked line',
      'audit-auth.ndjson',
      line(0, (value) => ({ ...value, leaf: '00'.repeat(32) })),
      /was changed/,
    ],
    ['a missing line', log, lines((all) => all.toSpliced(1, 1)), /seq 1 is missing/],
    ['a line that was cut off at the end', log, lines((all) => all.slice(0, -1)), /ends after 3 lines/],
    ['a line that was cut off in the middle', log, (text) => text.slice(0, -20), /not a JSON object/],
    ['another order', log, lines((all) => all.toReversed()), /order is changed/],
    [
      'another order with other numbers',
      log,
      lines((all) => all.toReversed().map((each, seq) => JSON.stringify({ ...JSON.parse(each), seq }))),
      /was changed|lacks the receipt/,
    ],
    [
      'a changed checkpoint',
      'checkpoints.ndjson',
      line(0, (value) => ({ ...value, logs: {} })),
      /not those that were signed/,
    ],
    [
      'a checkpoint of another time',
      'checkpoints.ndjson',
      line(0, (value) => ({ ...value, at: '2026-01-01T00:00:00.000Z' })),
      /not those that were signed/,
    ],
    [
      'a changed signature',
      'checkpoints.ndjson',
      line(0, ({ jws, ...value }) => ({ ...value, jws: flip(String(jws)) })),
      /signature is not valid/,
    ],
    [
      'a changed receipt',
      'records.ndjson',
      line(1, ({ jws, ...value }) => ({ ...value, jws: flip(String(jws)) })),
      /signature is not valid/,
    ],
    [
      'a receipt of another transaction',
      'records.ndjson',
      line(1, (value) => ({ ...value, transaction: 'other' })),
      /of another transaction/,
    ],
    [
      'an erased receipt of another digest',
      'records.ndjson',
      line(0, (value) => ({ ...value, erased: { sha256: 'A'.repeat(43) } })),
      /not the one that was logged/,
    ],
    [
      'an erased receipt without a digest',
      'records.ndjson',
      line(0, (value) => ({ ...value, erased: true })),
      /line 1: the erased receipt has no SHA-256/,
    ],
    [
      'a missing receipt',
      'records.ndjson',
      lines((all) => all.slice(0, -1)),
      /ends before the page that was signed/,
    ],
    [
      'a key of somebody else',
      'keys.json',
      (text) => text.replace(/"x":"[^"]{5}/g, '"x":"AAAAA'),
      /not a key for signatures under its own thumbprint/,
    ],
  ])('is rejected with %s', async (_name, file, edit, fault) => {
    await expect(verifyFolder(await change(file, edit))).rejects.toThrow(fault);
  });

  it.each([log, 'checkpoints.ndjson', 'keys.json'])('is rejected without %s', async (file) => {
    const copy = await copyFolder();
    await rm(path.join(copy, file));
    await writeManifest(copy);
    await expect(verifyFolder(copy)).rejects.toThrow(`${file} is missing`);
  });

  it('is rejected without a checkpoint of a log', async () => {
    await expect(verifyFolder(await change('checkpoints.ndjson', () => ''))).rejects.toThrow('no checkpoint');
    const copy = await copyFolder();
    await writeFile(path.join(copy, 'audit-more.ndjson'), '');
    await writeManifest(copy);
    await expect(verifyFolder(copy)).rejects.toThrow('No checkpoint covers audit-more.ndjson');
  });

  it('is rejected after every change of a file, line or member that docs/evidence.md does not name', async () => {
    const files = await readFiles(folder);
    // One in three, and none of the lines of models: evidence-changes.test.ts makes all in a made folder.
    const changes = [...changesOf(files)]
      .filter(
        ({ name, files: changed }) =>
          !name.startsWith('models.ndjson, line') && JSON.stringify(changed) !== JSON.stringify(files),
      )
      .filter((_, place) => place % 3 === 0);
    expect(changes.length).toBeGreaterThan(200);
    const passed: string[] = [];
    for (const { name, files: changed } of changes) {
      const found = await verifyFolder(await writeFolder(changed)).catch((error: unknown) => error);
      if (!(found instanceof EvidenceFault)) passed.push(name);
    }
    const notProvable = [
      /^audit-auth\.ndjson, line 1: with another \/(id|at)$/,
      /^checkpoints\.ndjson: without (its last line|its last two lines|a line in the middle)$/,
    ];
    expect(passed.filter((name) => !notProvable.some((pattern) => pattern.test(name)))).toEqual([]);
  });

  it('is rejected by its manifest if any byte is changed, or a file is added', async () => {
    for (const file of ['records.ndjson', log, 'keys.json']) {
      const copy = path.join(await temporaryFolder(), 'copy');
      await cp(folder, copy, { recursive: true });
      await writeFile(path.join(copy, file), `${await readFile(path.join(copy, file), 'utf8')} `);
      await expect(verifyFolder(copy)).rejects.toThrow(`${file} is not the file`);
    }
    const copy = path.join(await temporaryFolder(), 'copy');
    await cp(folder, copy, { recursive: true });
    await writeFile(path.join(copy, 'audit-more.ndjson'), '');
    await expect(verifyFolder(copy)).rejects.toThrow('does not list audit-more.ndjson');
  });
});

/** Changes the last character of a JWS in its bits that count. */
const flip = (jws: string) => `${jws.slice(0, -3)}${jws.at(-3) === 'A' ? 'B' : 'A'}${jws.slice(-2)}`;

describe('the commands', () => {
  const verify = (...args: string[]) => runCommand('services/verify.ts', args, { env: {} });

  it('export and verify a folder', async () => {
    const to = path.join(await temporaryFolder(), 'again');
    const env = { ACCORD_URL: instance.url, ACCORD_TOKEN: tokenOf(admin) };
    expect(await runCommand('services/export.ts', [to], { env })).toMatchObject({ code: 0, errors: '' });
    expect(await verify(to)).toMatchObject({ code: 0, errors: '' });
    expect(await verify(to, '--keys', path.join(folder, 'keys.json'))).toMatchObject({ code: 0 });
    expect(await runCommand('services/export.ts', [to], { env })).toMatchObject({
      code: 1,
      errors: `${to} is not empty.\n`,
    });
  });

  it('find a receipt that was deleted without an erasure', async () => {
    const row = 'transactions.receipts WHERE transaction = $1';
    const [kept] = await rowsOf<{ body: string; jws: string }>(instance, `SELECT body, jws FROM ${row}`, [
      given[1],
    ]);
    await runInDatabase(instance, `DELETE FROM ${row}`, [given[1]]);
    onTestFinished(() =>
      runInDatabase(
        instance,
        'INSERT INTO transactions.receipts (transaction, body, jws) VALUES ($1, $2, $3)',
        [given[1], kept?.body, kept?.jws],
      ),
    );
    const to = path.join(await temporaryFolder(), 'deleted');
    const env = { ACCORD_URL: instance.url, ACCORD_TOKEN: tokenOf(admin) };
    expect(await runCommand('services/export.ts', [to], { env })).toMatchObject({
      code: 0,
      errors: expect.stringMatching(/^1 logged receipts are missing/),
    });
    expect(await verify(to)).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`the receipt of the transaction ${given[1]} is missing`),
    });
  });

  it('exit with 1 and the first fault, and with 2 if they are called wrongly', async () => {
    const changed = await change(
      log,
      line(0, (value) => ({ ...value, actor: 'other' })),
    );
    expect(await verify(changed)).toMatchObject({ code: 1, errors: expect.stringContaining('was changed') });
    expect(await verify()).toMatchObject({ code: 2, errors: expect.stringMatching(/^Usage/) });
    expect(await verify('--unknown')).toMatchObject({ code: 2 });
    expect(await verify(path.join(folder, 'nothing'))).toMatchObject({ code: 2 });
  });

  it('are not needed: the program in docs/evidence.md finds the same root', async () => {
    const project = path.join(import.meta.dirname, '..', '..');
    const docs = await readFile(path.join(project, 'docs/evidence.md'), 'utf8');
    const program = (/```js\n(.*?)```/s.exec(docs)?.[1] ?? '')
      .replaceAll("'keys-from-elsewhere.json'", `'${folder}/keys.json'`)
      .replaceAll("'evidence/", `'${folder}/`);
    const run = (text: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', text], { cwd: project });
    expect((await run(program)).stdout).toBe('true\n');
    expect(
      (await run(program.replace('Buffer.of(0)', 'Buffer.of(2)').replaceAll('auth', 'consents'))).stdout,
    ).toBe('false\n');
  });

  it.each(['operator', 'auditor'])('an export needs an administrator, and says so to an %s', async (role) => {
    const to = path.join(await temporaryFolder(), 'refused');
    await expect(exportTo(to, await signIn(instance, role))).rejects.toThrow(
      /needs the credential of an administrator.*role of this one is .*page Receipts/,
    );
  });
});
