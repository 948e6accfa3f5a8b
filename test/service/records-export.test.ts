import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { modelTypes } from '#lib/evidence/signed-page.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

type Page = components['schemas']['RecordsExport'];
type Line = Page['values'][number];
type Model = components['schemas']['ModelsExportLine'];
type Version = components['schemas']['Version'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));
const read = async (query: string) => (await (await admin.get(`/records/export${query}`)).json()) as Page;

async function readAll(query = 'limit=200'): Promise<Line[]> {
  const lines: Line[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: Page = await read(`?${query}${next && `&cursor=${encodeURIComponent(next)}`}`);
    lines.push(...page.values);
    next = page.next;
  }
  return lines;
}

const made: Record<string, string> = {};

beforeAll(async () => {
  made.erased = (await recordAnswers(shop, 'leaves', { [letter]: ['accepted'] })).id;
  made.later = (await recordAnswers(shop, 'leaves', { [letter]: ['refused'] })).id;
  made.first = (await recordAnswers(shop, 'alice', { [letter]: ['accepted'] }, { object: 'card' })).id;
  made.open = (await createTransaction(shop, { subject: 'alice', object: 'another card' })).id;
  const row = { subject: 'bob', element: 'processing.001', serial: '1.0', answer: ['refused'] };
  const taken = { ...row, given: '2024-05-01', source: 'Old', sourceId: '7', comment: 'by letter' };
  await instance.fetch('/records/import', {
    method: 'POST',
    headers: { ...admin.headers, 'Content-Type': 'application/x-ndjson' },
    body: JSON.stringify({ ...taken, evidence: { kind: 'URL', value: 'https://old.example.org/7' } }),
  });
  const withdrawn = await shop.send('POST', '/choices/withdraw', { subject: 'alice' });
  made.withdrawal =
    ((await withdrawn.json()) as { transactions: { id: string }[] }).transactions[0]?.id ?? '';
  expect((await admin.send('POST', '/subjects/leaves/erasure')).status).toBe(202);
  await until(async () => expect((await shop.get(`/receipts/${made.erased}`)).status).toBe(404));
  // The sealer is a second behind.
  await until(async () => expect(await readAll('logged=true')).toHaveLength(4));
});

describe('the export of all transactions', () => {
  it('has each with its records, its receipt as it was signed, or what is left of it', async () => {
    const lines = await readAll();
    const { first = '', withdrawal = '', erased = '', later = '', open = '' } = made;
    expect(lines.slice(0, 4).map(({ transaction }) => transaction)).toEqual([
      erased,
      later,
      first,
      withdrawal,
    ]);
    const byId = new Map(lines.map((line) => [line.transaction, line]));
    const jws = await (await shop.get(`/receipts/${first}`, { Accept: 'application/jose' })).text();
    expect(byId.get(first)).toMatchObject({
      state: 'COMMITTED',
      subject: 'alice',
      jws,
      records: [{ element: letter, answers: ['accepted'], object: 'card', author: 'shop' }],
    });
    const [accepted] = byId.get(first)?.records ?? [];
    expect(byId.get(withdrawal)).toMatchObject({
      kind: 'WITHDRAWAL',
      records: [{ element: letter, answers: ['refused'], withdraws: accepted?.record }],
    });
    expect(byId.get(erased)).toMatchObject({
      subject: expect.stringMatching(/^erased:/),
      erased: { sha256: expect.stringMatching(/^[\w-]{43}$/) },
      records: [{ state: 'ERASED' }],
    });
    expect(byId.get(erased)).not.toHaveProperty('jws');
    expect(byId.get(open)).toMatchObject({ state: 'CREATED', records: [] });
    expect(lines.find(({ subject }) => subject === 'bob')).toMatchObject({
      kind: 'IMPORT',
      imported: {
        source: 'Old',
        by: 'admin',
        verified: false,
        at: expect.any(String),
        evidence: { kind: 'URL', value: 'https://old.example.org/7' },
      },
      records: [
        { answers: ['refused'], committed: '2024-05-01T00:00:00.000Z', sourceId: '7', comment: 'by letter' },
      ],
    });
    expect(lines).toHaveLength(6);
  });

  it('says from when until when each answer was in force, and what has ended it', async () => {
    const byId = new Map((await readAll()).map((line) => [line.transaction, line]));
    const recordOf = (id = '') => byId.get(id)?.records[0];
    const [accepted, refused] = [recordOf(made.first), recordOf(made.withdrawal)];
    expect(accepted).toMatchObject({
      from: accepted?.committed,
      until: refused?.committed,
      endedBy: refused?.record,
    });
    expect(refused).toMatchObject({ from: refused?.committed });
    expect(refused).not.toHaveProperty('until');
    expect(refused).not.toHaveProperty('endedBy');
    const taken = [...byId.values()].find(({ subject }) => subject === 'bob');
    expect(taken?.records[0]).toMatchObject({ from: taken?.imported?.at });
    expect(taken?.records[0]).not.toHaveProperty('until');
    // An erased answer was in force; what ended it would lead to the answers that are left.
    expect(recordOf(made.erased)).toMatchObject({ from: recordOf(made.erased)?.committed });
    expect(recordOf(made.erased)).toMatchObject({ until: expect.any(String) });
    expect(recordOf(made.erased)).not.toHaveProperty('endedBy');
  });

  it('is divided into pages, and can begin at a line of the log', async () => {
    const whole = await readAll();
    expect(await readAll('limit=1')).toEqual(whole);
    expect([...(await readAll('logged=true')), ...(await readAll('logged=false'))]).toEqual(whole);
    const [, second] = await rowsOf<{ seq: string }>(
      instance,
      `SELECT seq FROM transactions.audit_log WHERE action = 'receipt.signed' ORDER BY seq`,
    );
    expect(await readAll(`logged=true&from=${second?.seq}`)).toEqual(whole.slice(1, 4));
    expect(await readAll(`logged=true&to=${second?.seq}`)).toEqual(whole.slice(0, 1));
    expect(await readAll('to=0')).toEqual(whole.slice(4));
  });

  it('is also one line for each transaction, with the next page in Link', async () => {
    const whole = await readAll();
    const lines: unknown[] = [];
    for (let next: string | undefined = '/records/export?limit=2'; next !== undefined; ) {
      const response: Response = await admin.get(next, { Accept: 'application/x-ndjson' });
      expect(response.headers.get('content-type')).toBe('application/x-ndjson');
      const texts = (await response.text()).split('\n').slice(0, -1);
      lines.push(...texts.map((text) => JSON.parse(text) as unknown));
      next = /<([^>]+)>; rel="next"/
        .exec(response.headers.get('link') ?? '')?.[1]
        ?.slice(instance.url.length);
    }
    expect(lines).toEqual(whole);
  });

  it('is a line of the log for each page, and refuses what is no cursor', async () => {
    const count = async () =>
      rowsOf(instance, `SELECT FROM transactions.audit_log WHERE action = 'records.exported'`);
    const before = await count();
    await read('?limit=1');
    expect(await count()).toHaveLength(before.length + 1);
    const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const wrong of ['x', cursor([1]), cursor([-1, 2, true]), cursor(['2026-01-01', 'x']), cursor({})])
      expect((await admin.get(`/records/export?cursor=${wrong}`)).status).toBe(400);
    expect((await admin.get('/records/export?from=-1')).status).toBe(400);
    expect((await shop.get('/records/export')).status).toBe(403);
  });

  it('is signed page by page, if the client names the export', async () => {
    const { jwks } = (await (await admin.get('/.well-known/accord')).json()) as { jwks: JSONWebKeySet };
    const exportId = '0197a202-11d4-7a3e-8c11-5f3b2a1c0d9e';
    const readSigned = async (path: string, part: string, start = '') => {
      let after: string | null = null;
      let query = start;
      for (let isOpen = true; isOpen; isOpen = after !== null) {
        const response = await admin.get(`${path}?limit=2&exportId=${exportId}${query}`);
        const page = (await response.json()) as Page & { mappings?: object[] };
        const { values = page.mappings ?? [], next = null, signature = '' } = page;
        const { payload, protectedHeader } = await compactVerify(signature, createLocalJWKSet(jwks));
        expect(protectedHeader.typ).toBe('accord-export-page+jws');
        const text = values.map((line) => `${canonicalize(line)}\n`).join('');
        expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
          iss: instance.url,
          iat: expect.any(Number),
          export: exportId,
          part,
          lines: values.length,
          sha256: createHash('sha256').update(text).digest('hex'),
          after,
          next,
        });
        after = next;
        query = `&cursor=${encodeURIComponent(next ?? '')}`;
      }
    };
    await readSigned('/records/export/models', 'models');
    await readSigned('/records/export', 'others', '&logged=false');
    const mappings = [{ action: 'pay', element: 'processing.001' }];
    expect((await admin.send('PUT', '/access/mappings', { mappings })).status).toBe(200);
    await readSigned('/access/mappings', 'mappings');
    const unsigned = await read('?logged=false');
    expect(unsigned).not.toHaveProperty('signature');
    for (const path of ['/records/export', '/access/mappings'])
      expect((await admin.get(`${path}?exportId=mine`)).status).toBe(400);
  });

  it('has all models with the versions that were ever active, in one order', async () => {
    const readModels = async (limit: number) => {
      const models: Model[] = [];
      for (let next: string | undefined = ''; next !== undefined; ) {
        const query: string = next && `&cursor=${encodeURIComponent(next)}`;
        const page = (await (
          await admin.get(`/records/export/models?limit=${limit}${query}`)
        ).json()) as components['schemas']['ModelsExport'];
        models.push(...page.values);
        next = page.next;
      }
      return models;
    };
    const whole = await readModels(200);
    expect(await readModels(1)).toEqual(whole);
    const places = whole.map(({ type, key }) => `${modelTypes.indexOf(type)} ${key}`);
    expect(places).toEqual(places.toSorted());
    const { id } = (await (await admin.get('/models/serials/processing.001')).json()) as { id: string };
    const listed = (await (await admin.get(`/models/${id}/versions`)).json()) as Version[];
    const { serial, status, defaultLanguage, data } = listed[0] as Version;
    expect(whole.find(({ key }) => key === 'processing.001')).toMatchObject({
      type: 'processing',
      default: false,
      versions: [{ serial, status, defaultLanguage, data }],
    });
    for (const wrong of ['x', 'W10', 'WyJ4IiwieSJd'])
      expect((await admin.get(`/records/export/models?cursor=${wrong}`)).status).toBe(400);
    expect((await shop.get('/records/export/models')).status).toBe(403);
  });
});
