import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { type Findings, verifyFolder } from '#lib/evidence/verify-folder.ts';
import { exportFolder } from '#lib/moving/export-folder.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';
import { exportEvidence } from '../support/evidence/export-evidence.ts';
import { linesOf, readFiles } from '../support/evidence/folder-files.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { type TestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { letter, often, study } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, submitForCode } from '../support/instances/live-transactions.ts';
import { programEnvironment } from '../support/instances/program-environment.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Line = components['schemas']['RecordsExportLine'];

const [old, fresh, third] = [useInstance(), useInstance(), useInstance()];
const admins = [old, fresh, third].map((instance) => useSetup(() => signIn(instance, 'admin')));
const [admin, freshAdmin, thirdAdmin] = admins as [Caller, Caller, Caller];
const tokenOf = ({ headers }: Caller) => headers.Authorization?.replace('Bearer ', '') ?? '';

const importTo = (instance: TestInstance, caller: Caller, folder: string) =>
  runCommand('services/import.ts', [folder, '--full-speed'], {
    env: { ACCORD_URL: instance.url, ACCORD_TOKEN: tokenOf(caller) },
  });

const importRows = (rows: readonly object[]) =>
  old.fetch('/records/import', {
    method: 'POST',
    headers: { ...admin.headers, 'Content-Type': 'application/x-ndjson' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });

const parse = (text: string | undefined) => linesOf(text ?? '').map((line) => JSON.parse(line) as unknown);

/** Every answer in a folder as its origin knows it: with who, what, when, from where and its proof. */
async function answersIn(folder: string): Promise<string[]> {
  const files = await readFiles(folder);
  const { instance } = JSON.parse(files['keys.json'] ?? '') as { instance: string };
  const answers = (parse(files['records.ndjson']) as Line[]).flatMap(
    ({ transaction, subject, jws, imported, records }) =>
      records
        .filter(({ state }) => state === 'COMMITTED')
        .map((record) => {
          const {
            element,
            information,
            answers: given,
            committed,
            expires,
            object,
            comment,
            author,
          } = record;
          const source = imported?.source ?? instance;
          const sourceId = record.sourceId ?? `${transaction}/${element.split('/')[2]}`;
          const proof = jws ?? imported?.evidence?.value;
          return JSON.stringify([
            ...[subject, object, element, information, given, committed, expires, comment, author],
            ...[source, sourceId, proof],
          ]);
        }),
  );
  return answers.sort();
}

/** Which answers of a folder are in force: who said what last to which question. */
async function inForceIn(folder: string): Promise<string[]> {
  const { 'records.ndjson': records } = await readFiles(folder);
  return (parse(records) as Line[])
    .flatMap((line) => line.records.map((record) => ({ subject: line.subject, ...record })))
    .filter(({ state, from, until }) => state === 'COMMITTED' && from !== undefined && until === undefined)
    .map(({ subject, object, element, answers }) => JSON.stringify([subject, object, element, answers]))
    .sort();
}

/** Keys, serials and texts of everything that can be answered. */
async function textsIn(folder: string): Promise<unknown[]> {
  type Model = {
    key: string;
    type: string;
    versions: { serial: string; data: object; defaultLanguage: string }[];
  };
  const { 'models.ndjson': models } = await readFiles(folder);
  return (parse(models) as Model[]).flatMap(({ key, type, versions }) =>
    ['layout', 'theme', 'email'].includes(type)
      ? []
      : versions.map(({ serial, data, defaultLanguage }) => ({ key, type, serial, data, defaultLanguage })),
  );
}

const mappings = [
  { action: 'send', element: 'processing.001', when: { 'resource.properties.channel': 'mail' } },
  { action: 'text', purpose: 'CONSENT_MARKETING', object: 'resource.id' },
];
const mappingsOf = async (caller: Caller) => (await (await caller.get('/access/mappings')).json()) as object;

let receipts = 0;

/** A history of every kind. */
beforeAll(async () => {
  const answer = async (
    ...given: Parameters<typeof recordAnswers> extends [unknown, ...infer Rest] ? Rest : never
  ) => {
    receipts += 1;
    return recordAnswers(admin, ...given);
  };
  const news = await makeLiveModel(admin, 'processing', {
    en: { ...sampleContent.processing, validity: 'P2Y' },
  });
  const element = (serial: string) => `element/processing/${news.key}/${serial}`;
  await answer('first version', { [element('1.0')]: ['accepted'] });
  const better = { ...sampleContent.processing, title: 'Letters', validity: 'P2Y' };
  await activateContent(admin, news, { en: better });
  await answer('minor', { [element('1.1')]: ['accepted'] });
  await activateContent(admin, news, { en: { ...better, data: 'Name, address' } }, 'MAJOR');
  await answer('major', { [element('2.0')]: ['refused'], [letter]: ['accepted'], [often]: ['Once a month'] });
  await answer('withdrawn', { [letter]: ['accepted'] });
  await answer('withdrawn', { [study]: ['accepted'] });
  await admin.send('POST', '/choices/withdraw', { subject: 'withdrawn' });
  await answer('expired', { [letter]: ['accepted'] }, { validity: 'PT1S' });
  await answer('objects', { [letter]: ['accepted'] }, { object: 'card 1', author: 'mother' });
  await answer('objects', { [letter]: ['refused'] }, { object: 'card 2' });
  await answer(
    'paper',
    { [letter]: ['accepted'] },
    { origin: 'OPERATOR', collection: { way: 'PAPER', givenOn: '2026-01-02' } },
  );
  await answer('terms', { 'element/conditions/conditions.001/1.0': ['accepted'] });
  const remark = await createTransaction(admin, {
    subject: 'remark',
    layoutData: { elements: ['processing.001'] },
  });
  await admin.send('POST', `/consents/${remark.id}/submit`, {
    [letter]: ['accepted'],
    comment: 'by telephone',
  });
  const coded = await submitForCode(admin, { subject: 'coded' });
  await admin.send('POST', `/consents/${coded.id}/confirm`, { code: coded.code });
  await submitForCode(admin, { subject: 'waits for a code' });
  await answer('leaves', { [letter]: ['accepted'] });
  receipts += 3;
  const row = {
    element: 'processing.001',
    serial: '1.0',
    source: 'CRM',
    answer: ['accepted'],
    validity: 'P20Y',
  };
  const day = (number: number) => new Date(Date.UTC(2020, 0, 1 + number)).toISOString();
  const rows = Array.from({ length: 230 }, (_, number) => ({
    ...row,
    subject: `moved ${number % 7}`,
    sourceId: `${number}`,
    given: day(number),
    ...(number % 3 === 1 && { evidence: { kind: 'HASH', value: 'ab'.repeat(32) }, comment: 'a letter' }),
    ...(number % 3 === 2 && {
      evidence: { kind: 'URL', value: 'https://crm.example.org/1' },
      author: 'guardian',
    }),
  }));
  expect((await importRows(rows)).status).toBe(200);
  expect((await admin.send('PUT', '/access/mappings', { mappings })).status).toBe(200);
  expect((await admin.send('POST', '/subjects/leaves/erasure')).status).toBe(202);
  await until(async () => {
    const { state } = ((await (await admin.get('/erasures')).json()) as { state: string }[])[0] ?? {
      state: '',
    };
    expect(state).toBe('DONE');
  });
});

describe('an export that is imported into an empty instance and exported again', () => {
  it('has the same answers, times, texts and receipts, also a second time', {
    timeout: 180_000,
  }, async () => {
    const first = await exportEvidence(old, admin, receipts);
    const found = await verifyFolder(first);
    expect(found.mappings).toBe(2);
    expect(found.receipts).toMatchObject({ erased: 1, imported: { verified: 0, all: expect.any(Number) } });
    const answers = await answersIn(first);
    expect(answers).toHaveLength(receipts - 1 + 230 + 5);

    const moved = await importTo(fresh, freshAdmin, first);
    expect([moved.code, moved.errors]).toEqual([0, '']);
    expect(moved.output).toContain('Made 1 models with 3 versions here.');
    expect(moved.output).toContain('Not carried: 1 erased transactions.');
    expect(moved.output).toMatch(
      new RegExp(`^${answers.length} rows: ${answers.length} created, 0 unchanged`, 'm'),
    );
    const second = await exportEvidence(fresh, freshAdmin, 0);
    const again = await verifyFolder(second);
    expect(await answersIn(second)).toEqual(answers);
    const inForce = await inForceIn(first);
    expect(inForce.length).toBeGreaterThan(10);
    expect(await inForceIn(second)).toEqual(inForce);
    expect(await textsIn(second)).toEqual(await textsIn(first));
    expect(moved.output).toContain('Stored 2 mappings of AuthZEN here.');
    expect(await mappingsOf(freshAdmin)).toEqual({ mappings });
    const { 'access-mappings.ndjson': exported } = await readFiles(first);
    expect(parse(exported)).toEqual(mappings);
    expect((await readFiles(second))['access-mappings.ndjson']).toBe(exported);
    // The receipts of the first instance are proved with its keys, which came along.
    expect(again.receipts.imported.verified).toBe(found.receipts.proved);
    expect(again.others).toEqual({ kids: found.keys.kids.slice(0, 1), areTrusted: false });

    const further = await importTo(third, thirdAdmin, second);
    expect([further.code, further.errors]).toEqual([0, '']);
    expect(await answersIn(await exportEvidence(third, thirdAdmin, 0))).toEqual(answers);
    const kept = [{ action: 'mine', purpose: 'CONSENT_MARKETING' }];
    expect((await thirdAdmin.send('PUT', '/access/mappings', { mappings: kept })).status).toBe(200);
    const repeated = await importTo(third, thirdAdmin, second);
    expect(repeated.output).toContain('Not carried: 1 mappings of AuthZEN, because there are others here.');
    expect(await mappingsOf(thirdAdmin)).toEqual({ mappings: kept });
    expect(repeated.output).toMatch(new RegExp(`rows: 0 created, ${answers.length} unchanged, 0 rejected`));
  });

  it('goes on wherever it was stopped', { timeout: 120_000 }, async () => {
    const folder = path.join(await temporaryFolder(), 'stopped');
    let stops = 0;
    const attempt = (requests: number): Promise<unknown> => {
      let left = requests;
      const headers = async () => {
        if (left === 0) throw new StartupError('stopped');
        left -= 1;
        return admin.headers;
      };
      return exportFolder({ source: createInstanceClient({ url: old.url, headers }), folder });
    };
    for (let requests = 0, isDone = false; !isDone; requests += 1)
      isDone = await attempt(requests).then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe('stopped');
          stops += 1;
          return false;
        },
      );
    expect(stops).toBeGreaterThan(4);
    const whole = await exportEvidence(old, admin, receipts);
    await expectSame(folder, whole);
    await expect(attempt(100)).rejects.toThrow('is not empty');
  });

  it('goes on after kill -9', { timeout: 120_000 }, async () => {
    const env = { ACCORD_URL: old.url, ACCORD_TOKEN: tokenOf(admin) };
    const folder = await startAndKill(env);
    expect(await readdir(folder)).not.toContain('manifest.json');
    await expect(verifyFolder(folder)).rejects.toThrow('export.part.json is not a file of an export');
    const finished = await runCommand('services/export.ts', [folder], { env });
    expect([finished.code, finished.errors]).toEqual([0, '']);
    await expectSame(folder, await exportEvidence(old, admin, receipts));
  });

  it('is whole while people answer', { timeout: 120_000 }, async () => {
    let isOver = false;
    let answered = 0;
    const people = (async () => {
      for (; !isOver; answered += 1)
        await recordAnswers(admin, `meanwhile ${answered}`, { [letter]: ['accepted'] });
    })();
    const found: Findings[] = [];
    for (let round = 0; round < 3; round += 1)
      found.push(await verifyFolder(await exportEvidence(old, admin, receipts)));
    isOver = true;
    await people;
    expect(answered).toBeGreaterThan(10);
    const counts = found.map((each) => each.receipts.proved);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });
});

/** The same answers and models: a later export has later lines of the log. */
async function expectSame(folder: string, other: string): Promise<void> {
  await verifyFolder(folder);
  for (const name of ['access-mappings.ndjson', 'models.ndjson', 'records.ndjson'])
    expect(await readFile(path.join(folder, name), 'utf8')).toBe(
      await readFile(path.join(other, name), 'utf8'),
    );
}

/** Kills the program after it has saved something and before it is done. @returns its folder. */
async function startAndKill(env: Record<string, string>): Promise<string> {
  for (;;) {
    const folder = await temporaryFolder();
    const child = spawn(process.execPath, ['services/export.ts', folder], {
      env: { ...programEnvironment, ...env },
    });
    const ended = once(child, 'exit');
    await until(async () => expect(await readdir(folder)).not.toEqual([]));
    child.kill('SIGKILL');
    await ended;
    if ((await readdir(folder)).includes('export.part.json')) return folder;
  }
}
