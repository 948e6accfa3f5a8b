import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { keepEvents } from '../support/instances/live-events.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Form = components['schemas']['Form'];
type Result = components['schemas']['ImportResult'];

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
beforeAll(() => keepEvents(instance));
const operator = useSetup(() => signIn(instance, 'operator'));
const [, , key = '', serial = ''] = letter.split('/');

let number = 0;
const newSubject = () => `subject ${randomUUID()}`;
/** A consent of two years ago, good for ten. */
const row = (subject: string, more: Record<string, unknown> = {}) => {
  number += 1;
  const given = new Date(Date.now() - 2 * 365 * 86_400_000).toISOString();
  const what = { subject, element: key, serial, answer: ['accepted'], given, validity: 'P10Y' };
  return { ...what, source: 'Old system', sourceId: `row ${number}`, ...more };
};
const send = (rows: readonly unknown[], query = '', type = 'application/x-ndjson') =>
  instance.fetch(`/records/import${query}`, {
    method: 'POST',
    headers: { ...admin.headers, 'Content-Type': type },
    body: rows.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n'),
  });
const take = async (rows: readonly unknown[], query = '', type?: string): Promise<Result> => {
  const response = await send(rows, query, type);
  expect(response.status).toBe(200);
  return (await response.json()) as Result;
};
const codesOf = ({ errors }: Result) => errors.map(({ row: place, pointer, code }) => [place, pointer, code]);
const reason = async (subject: string, more = {}) => {
  const body = { subject, questions: [{ element: key }], ...more };
  const { decisions } = (await (await operator.send('POST', '/decisions', body)).json()) as {
    decisions: { reason: string; evidence?: string }[];
  };
  return decisions[0];
};
const withdraw = (subject: string) => operator.send('POST', '/choices/withdraw', { subject });
const recordOf = async (subject: string) => (await recordsOf(operator, subject))[key]?.[0];

describe('an answer of another system', () => {
  it('is in the export of its person with its source, its evidence and the text of the question', async () => {
    const subject = newSubject();
    const url = 'https://old.example/proofs/7';
    const given = row(subject, { evidence: { kind: 'URL', value: url } });
    expect(await take([given])).toMatchObject({ created: 1 });
    const path = `/subjects/${encodeURIComponent(subject)}/export`;
    const whole = (await (await operator.get(path)).json()) as components['schemas']['SubjectExport'];
    const [record] = whole.transactions[0]?.records ?? [];
    expect(record?.imported).toMatchObject({ source: 'Old system', sourceId: given.sourceId });
    expect(record?.imported).toMatchObject({ evidence: 'URL', value: url, verified: false, lang: 'en' });
    const title = String(record?.imported?.texts?.title);
    expect(title).toMatch(/\w/);
    // Who took it over is an employee.
    expect(JSON.stringify(record)).not.toContain('"by"');
    const html = await (await operator.get(`${path}?format=html`)).text();
    for (const shown of [title, `Taken over from another system: Old system, ${given.sourceId}`, url])
      expect(html).toContain(shown);
    expect(html).not.toContain(letter);
    expect(html).not.toContain('Withdrawal of ');
  });

  it('is preselected in a form, which says from where it was taken over', async () => {
    const subject = newSubject();
    await take([row(subject)]);
    const made = await createTransaction(operator, { subject, layoutData: { elements: [key] } });
    const form = `${made.task}?t=${made.token}`;
    const asked = (await (await fetch(form, { headers: { Accept: 'application/json' } })).json()) as Form;
    expect(asked.elements[0]?.previous).toMatchObject({ answers: ['accepted'], importedFrom: 'Old system' });
    const html = await (await fetch(form, { headers: { Accept: 'text/html' } })).text();
    expect(html).toContain('(Taken over from another system: Old system)');
  });

  it('counts from then on, and says from where, by whom and when it was taken over', async () => {
    const subject = newSubject();
    const given = row(subject);
    const result = await take([given]);
    expect(result).toMatchObject({ rows: 1, created: 1, unchanged: 0, rejected: 0, errors: [] });
    expect(await reason(subject)).toMatchObject({
      reason: 'GIVEN',
      evidence: 'IMPORTED',
      given: given.given,
    });
    expect(await reason(subject, { evidence: 'COLLECTED' })).toMatchObject({ reason: 'NOT_PROVEN' });
    const record = await recordOf(subject);
    expect(record).toMatchObject({
      status: 'VALID',
      origin: 'IMPORTED',
      author: subject,
      creationTimestamp: Date.parse(given.given),
      imported: { by: 'admin', source: 'Old system', sourceId: given.sourceId, verified: false },
    });
  });

  it('has no receipt of this instance', async () => {
    const subject = newSubject();
    await take([row(subject)]);
    const response = await operator.get(`/receipts/${(await recordOf(subject))?.transaction}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ imported: { source: 'Old system' } });
  });

  it('is taken over once: again it is unchanged, with another content a conflict', async () => {
    const subject = newSubject();
    const given = row(subject);
    expect(await take([given, given])).toMatchObject({ created: 1, unchanged: 1 });
    expect(await take([given])).toMatchObject({ created: 0, unchanged: 1, rejected: 0 });
    const changed = await take([{ ...given, answer: ['refused'] }]);
    expect(codesOf(changed)).toEqual([[1, '/sourceId', 'conflict']]);
    expect((await recordsOf(operator, subject))[key]).toHaveLength(1);
  });

  it('loses to what was collected here later, and becomes history', async () => {
    const subject = newSubject();
    await recordAnswers(operator, subject, { [letter]: ['refused'] });
    expect(await take([row(subject)])).toMatchObject({ created: 1 });
    expect(await reason(subject)).toMatchObject({ reason: 'REFUSED' });
    const statuses = (await recordsOf(operator, subject))[key]?.map(({ origin, status }) => [origin, status]);
    expect(statuses).toEqual([
      ['WEBFORM', 'VALID'],
      ['IMPORTED', 'OBSOLETE'],
    ]);
  });

  it('is refused if it is a consent after a refusal that was collected here', async () => {
    const subject = newSubject();
    await recordAnswers(operator, subject, { [letter]: ['refused'] });
    const later = row(subject, { given: new Date().toISOString() });
    expect(codesOf(await take([later]))).toEqual([[1, '/answer', 'withdrawn-here']]);
    expect(await reason(subject)).toMatchObject({ reason: 'REFUSED' });
  });

  it('ends a consent that was collected here before, and tells those who know of it', async () => {
    const subject = newSubject();
    await recordAnswers(operator, subject, { [letter]: ['accepted'] });
    const known = (await recordOf(subject))?.serial;
    await take([row(subject, { answer: ['refused'], given: new Date().toISOString() })]);
    expect(await reason(subject)).toMatchObject({ reason: 'WITHDRAWN', evidence: 'IMPORTED' });
    expect((await recordOf(subject))?.withdraws).toBe(known);
    await until(async () => {
      const events = await rowsOf<{ event: { type: string; data: object } }>(
        instance,
        `SELECT event FROM transactions.kept_events WHERE event::text LIKE '%' || $1 || '%'`,
        [known],
      );
      const types = events.map(({ event }) => event.type);
      expect(types).toContain('io.accord.record.superseded.v1');
      expect(types).toContain('io.accord.consent.withdrawn.v1');
    });
  });

  it('keeps the order of its history, whatever the order of the rows', async () => {
    const subject = newSubject();
    const at = (year: number, answer: string) => row(subject, { given: `${year}-03-01`, answer: [answer] });
    await take([at(2024, 'accepted'), at(2022, 'refused'), at(2020, 'accepted')]);
    expect(await reason(subject)).toMatchObject({ reason: 'GIVEN', given: '2024-03-01T00:00:00.000Z' });
    await take([at(2023, 'refused'), at(2025, 'refused')]);
    expect(await reason(subject)).toMatchObject({ reason: 'WITHDRAWN', given: '2025-03-01T00:00:00.000Z' });
    expect((await recordsOf(operator, subject))[key]).toHaveLength(5);
  });

  it('changes no decision about a time before it was taken over', async () => {
    const subject = newSubject();
    await recordAnswers(operator, subject, { [letter]: ['accepted'] });
    const { asOf, record } = (await reason(subject)) as unknown as { asOf: string; record: string };
    const at = (ms: number, answer: string) =>
      row(subject, { given: new Date(Date.parse(asOf) + ms).toISOString(), answer: [answer] });
    await until(() => expect(Date.now()).toBeGreaterThan(Date.parse(asOf) + 20));
    await take([at(10, 'refused'), at(20, 'accepted'), row(subject)]);
    expect(await reason(subject)).toMatchObject({ evidence: 'IMPORTED' });
    expect(await reason(subject, { asOf })).toMatchObject({ reason: 'GIVEN', record, evidence: 'COLLECTED' });
    expect(await reason(newSubject(), { asOf })).toMatchObject({ reason: 'NO_ANSWER' });
  });

  it('can be withdrawn here, with a receipt that has its texts', async () => {
    const subject = newSubject();
    await take([row(subject)]);
    const response = await withdraw(subject);
    expect(response.status).toBe(201);
    expect(await reason(subject)).toMatchObject({ reason: 'WITHDRAWN', evidence: 'COLLECTED' });
    const { serial: id, transaction } = (await recordOf(subject)) ?? {};
    expect(id).toBeDefined();
    const receipt = (await (await operator.get(`/receipts/${transaction}`)).json()) as {
      consents: { identifier: string; texts: { title: string } }[];
    };
    expect(receipt.consents).toMatchObject([{ identifier: letter, texts: { title: expect.any(String) } }]);
    expect(codesOf(await take([row(subject, { given: new Date().toISOString() })]))).toEqual([
      [1, '/answer', 'withdrawn-here'],
    ]);
  });

  it('is shown to the person among the choices', async () => {
    const subject = newSubject();
    await take([row(subject)]);
    const response = await operator.get(`/choices?subject=${encodeURIComponent(subject)}`);
    const { organisations } = (await response.json()) as { organisations: { choices?: object[] }[] };
    expect(organisations[0]?.choices).toMatchObject([
      { imported: 'Old system', withdrawable: true, answers: ['accepted'] },
    ]);
  });
});

describe('evidence', () => {
  it('that is a receipt is verified by the keys of the first line, and must state the answer', async () => {
    const subject = newSubject();
    const made = await recordAnswers(operator, subject, { [letter]: ['accepted'] });
    const jws = await (await operator.get(`/receipts/${made.id}?format=jose`)).text();
    const { timestamp } = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());
    const { jwks } = (await (await instance.fetch('/.well-known/accord')).json()) as { jwks: object };
    const evidence = { kind: 'RECEIPT', value: jws };
    const proven = row(subject, { given: timestamp, evidence });
    const forged = row(subject, {
      given: timestamp,
      evidence: { ...evidence, value: `${jws.slice(0, -8)}AAAAAAAA` },
    });
    const other = row(subject, { given: timestamp, answer: ['refused'], evidence });
    expect(codesOf(await take([{ keys: jwks }, proven, forged, other]))).toEqual([
      [2, '/evidence/value', 'evidence-invalid'],
      [3, '/evidence/value', 'evidence-mismatch'],
    ]);
    expect(codesOf(await take([row(subject, { given: timestamp, evidence })]))).toEqual([
      [1, '/evidence/value', 'evidence-invalid'],
    ]);
    const records = (await recordsOf(operator, subject))[key] ?? [];
    expect(records.find(({ origin }) => origin === 'IMPORTED')?.imported).toMatchObject({
      evidence: 'RECEIPT',
      verified: true,
    });
  });

  it('that is a digest or an address is kept as it is', async () => {
    const subject = newSubject();
    const value = createHash('sha256').update('a scan').digest('hex');
    const url = { kind: 'URL', value: 'https://archive.example/7' };
    const rows = [row(subject, { evidence: { kind: 'HASH', value } }), row(subject, { evidence: url })];
    expect(await take(rows)).toMatchObject({ created: 2 });
    const records = (await recordsOf(operator, subject))[key] ?? [];
    expect(records.map(({ imported }) => imported?.evidence).sort()).toEqual(['HASH', 'URL']);
  });
});

describe('rows', () => {
  it('with faults are named by their place, and the others are taken over', async () => {
    const subject = newSubject();
    const rows = [
      row(subject, { element: 'processing.unknown' }),
      row(subject, { answer: ['perhaps'] }),
      row(subject, { given: '2024-02-31T00:00:00Z' }),
      row(subject, { given: new Date(Date.now() + 3_600_000).toISOString() }),
      row(subject, { expire: '2030-01-01' }),
      '{"subject": ',
      row(subject, { serial: '9.9' }),
      row(subject, { information: 'information.unknown' }),
      row(subject),
    ];
    const result = await take(rows);
    expect(result).toMatchObject({ rows: 9, created: 1, rejected: 8 });
    expect(codesOf(result)).toEqual([
      [1, '/element', 'unknown-element'],
      [2, '/answer', 'invalid-answer'],
      [3, '/given', 'invalid'],
      [4, '/given', 'invalid'],
      [5, '/expire', 'invalid'],
      [6, '', 'malformed'],
      [7, '/element', 'unknown-element'],
      [8, '/information', 'unknown-information'],
    ]);
  });

  it('of a dry run are counted and not stored', async () => {
    const subject = newSubject();
    expect(await take([row(subject), row(subject, { answer: [] })], '?dryRun=true')).toMatchObject({
      created: 1,
      rejected: 1,
    });
    expect(await recordsOf(operator, subject)).toEqual({});
  });

  it('may be a table, and name options in any language of the version', async () => {
    const preference = await makeLiveModel(admin, 'preference', {
      en: { ...sampleContent.preference, valueType: 'CHECKBOXES', options: ['By post', 'By mail'] },
      fr: { ...sampleContent.preference, valueType: 'CHECKBOXES', options: ['Par la poste', 'Par courriel'] },
    });
    const subject = newSubject();
    const head = 'subject,element,serial,answer,given,source,sourceId,evidenceKind,evidenceValue';
    const line = `${subject},${preference.key},1.0,"Par courriel\nPar la poste",2024-05-01T10:00:00+02:00,Old,${subject},URL,https://archive.example/1`;
    expect(await take([`\uFEFF${head}`, line], '', 'text/csv')).toMatchObject({ created: 1 });
    expect((await recordsOf(operator, subject))[preference.key]?.[0]).toMatchObject({
      values: ['Par la poste', 'Par courriel'],
      creationTimestamp: Date.parse('2024-05-01T08:00:00Z'),
    });
    expect((await send(['subject,element', '"a'], '', 'text/csv')).status).toBe(400);
  });

  it('of a table are refused together if its head names a column twice, which the answer names', async () => {
    const subject = newSubject();
    const head = 'subject,element,serial,answer,given,source,sourceId';
    const line = `${subject},${key},${serial},accepted,2024-05-01T10:00:00Z,Old,${subject}`;
    const refused = await send([`${head},answer`, `${line},refused`], '', 'text/csv');
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({
        code: 'malformed',
        detail: 'The head of the table has the column "answer" twice.',
      }),
    ]);
    expect(await recordOf(subject)).toBeUndefined();
    expect(await take([head, line], '', 'text/csv')).toMatchObject({ created: 1 });
  });

  it('of a table name the proof by its kind and its value: a cell without the other is a fault', async () => {
    const columns = 'subject,element,serial,answer,given,source,sourceId';
    const lineOf = (subject: string) =>
      `${subject},${key},${serial},accepted,2024-05-01T10:00:00Z,Old,${subject}`;
    const takeWith = async (more: string, cells: string, subject = newSubject()) =>
      take([`${columns},${more}`, `${lineOf(subject)},${cells}`], '', 'text/csv');
    const url = 'https://archive.example/1';
    const refused = await takeWith('evidence', url);
    expect(codesOf(refused)).toEqual([[1, '/evidence', 'invalid']]);
    expect(refused.errors[0]?.detail).toContain('the columns evidenceKind and evidenceValue');
    expect(codesOf(await takeWith('evidenceValue', url))).toEqual([[1, '/evidence/kind', 'invalid']]);
    expect(codesOf(await takeWith('evidenceKind', 'URL'))).toEqual([[1, '/evidence/value', 'invalid']]);
    expect(codesOf(await takeWith('evidence,evidenceKind,evidenceValue', `${url},URL,${url}`))).toEqual([
      [1, '/evidence', 'invalid'],
    ]);
    const subject = newSubject();
    const taken = await takeWith('evidence,evidenceKind,evidenceValue', `,URL,${url}`, subject);
    expect(taken).toMatchObject({ created: 1 });
    expect(await recordOf(subject)).toMatchObject({ imported: { evidence: 'URL', source: 'Old' } });
    expect(await takeWith('evidence,evidenceKind,evidenceValue', ',,')).toMatchObject({ created: 1 });
  });

  it('are at most 5,000 in a request', async () => {
    expect((await send(Array(5_001).fill('{}'))).status).toBe(413);
  });

  it('of an erased person are refused', async () => {
    const subject = newSubject();
    const given = row(subject);
    await take([given]);
    expect((await admin.send('POST', `/subjects/${encodeURIComponent(subject)}/erasure`)).status).toBe(202);
    await until(async () => {
      expect(await recordsOf(operator, subject)).toEqual({});
      expect(codesOf(await take([given]))).toEqual([[1, '/subject', 'erased']]);
    });
    const left = 'SELECT FROM transactions.imported_answers WHERE source_id = $1';
    expect(await rowsOf(instance, left, [given.sourceId])).toEqual([]);
    const names = 'SELECT FROM transactions.subjects WHERE name = $1';
    await until(async () => expect(await rowsOf(instance, names, [subject])).toEqual([]));
  });

  it('of two requests at once are taken over once', async () => {
    const subject = newSubject();
    const rows = Array.from({ length: 20 }, () => row(subject));
    const results = await Promise.all([take(rows), take(rows), take(rows)]);
    expect(results.map(({ created }) => created).sort((a, b) => a - b)).toEqual([0, 0, 20]);
    expect(results.map(({ created, unchanged }) => created + unchanged)).toEqual([20, 20, 20]);
  });
});
