import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { complete, problemOf, transactionIn } from '../support/instances/live-subject.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));
const user = useSetup(() => signIn(instance, 'user'));

const scan = () => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(2_000), Buffer.from('Signed: Ann')]);

async function upload(body: Buffer, type = 'application/pdf', caller = operator): Promise<Response> {
  return fetch(new URL('/consents/documents', instance.url), {
    method: 'POST',
    headers: { ...caller.headers, 'Content-Type': type },
    body: new Uint8Array(body),
  });
}

async function uploaded(body: Buffer): Promise<string> {
  const answer = await upload(body);
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { sha256: string }).sha256;
}

const record = (subject: string, collection: object, caller = operator) =>
  caller.send('POST', '/consents/singlestep', {
    context: { subject, layout: 'layout.001', origin: 'OPERATOR', collection },
    values: complete,
  });

const receiptOf = async (id: string, accept = 'application/json') =>
  (
    await fetch(new URL(`/receipts/${id}`, instance.url), {
      headers: { ...operator.headers, Accept: accept },
    })
  ).text();

async function faultOf(answer: Response): Promise<[string, string | undefined]> {
  const { said, errors } = await problemOf(answer);
  return [said, (errors as { pointer: string }[])[0]?.pointer];
}

describe('answers that were given on paper', () => {
  it('say on every receipt how and when they were given, and which scan shows it', async () => {
    const body = scan();
    const document = await uploaded(body);
    expect(document).toBe(createHash('sha256').update(body).digest('hex'));
    const given = { way: 'PAPER', givenOn: '2026-03-12', reference: 'Cabinet 3', document };
    const { id } = await transactionIn(record('ann', given));
    expect((JSON.parse(await receiptOf(id)) as ReceiptBody).collection).toEqual(given);
    const records = Object.values(
      (await (await operator.get('/subjects/ann/records')).json()) as object,
    ).flat();
    for (const each of records) expect(each).toMatchObject({ way: 'PAPER', givenOn: '2026-03-12' });
    for (const accept of ['text/html', 'text/plain', 'application/xml']) {
      const shown = plainSpaces(await receiptOf(id, accept));
      for (const text of ['Cabinet 3', document]) expect(shown).toContain(text);
      expect(shown).toContain(accept === 'application/xml' ? '<givenOn>2026-03-12' : '12 March 2026');
    }
  });

  it('are withdrawn with the letter that asks for it, on the first of several withdrawals', async () => {
    for (const object of ['boat', 'house']) {
      const context = { subject: 'lea', object, layoutData: { elements: ['processing.001'] } };
      const values = { 'element/processing/processing.001/1.0': ['accepted'] };
      expect((await operator.send('POST', '/consents/singlestep', { context, values })).ok).toBe(true);
    }
    const collection = { way: 'LETTER', reference: 'tray 3', document: await uploaded(scan()) };
    const answer = await operator.send('POST', '/choices/withdraw', { subject: 'lea', collection });
    expect(answer.status).toBe(201);
    const { transactions } = (await answer.json()) as { transactions: { context: { collection: object } }[] };
    const { document: _only, ...rest } = collection;
    expect(transactions.map(({ context }) => context.collection)).toEqual([collection, rest]);
  });

  it('are no matter of the person: only staff says how a withdrawal came', async () => {
    const { id } = await transactionIn(record('user', { way: 'PAPER' }));
    const body = { collection: { way: 'LETTER' } };
    for (const path of [`/consents/${id}/withdraw`, '/choices/withdraw'])
      expect((await user.send('POST', path, body)).status).toBe(403);
  });

  it('keep their scan as it was, encrypted in the database, for staff and for the person', async () => {
    const body = scan();
    const made = await transactionIn(record('bob', { way: 'PAPER', document: await uploaded(body) }));
    const path = `/consents/${made.id}/document`;
    const answer = await operator.get(path);
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(body);
    const [row] = await rowsOf(instance, 'SELECT sealed FROM transactions.documents WHERE transaction = $1', [
      made.id,
    ]);
    expect((row as { sealed: Buffer }).sealed.includes('Signed: Ann')).toBe(false);
    expect((await user.get(path)).status).toBe(404);
    const log = (await (await admin.get('/audit/consents?actions=document.read')).json()) as object;
    expect(JSON.stringify(log)).toContain('document.read');
    expect((await fetch(new URL(path, instance.url))).status).toBe(401);
  });

  it('lose their scan when the person is erased', async () => {
    const { id } = await transactionIn(record('cleo', { way: 'PAPER', document: await uploaded(scan()) }));
    expect((await admin.send('POST', '/subjects/cleo/erasure')).status).toBe(202);
    await vi.waitFor(
      async () =>
        expect(
          await rowsOf(instance, 'SELECT id FROM transactions.documents WHERE transaction = $1', [id]),
        ).toEqual([]),
      { timeout: 20_000, interval: 50 },
    );
  });

  it('are recorded once, however often they are sent', async () => {
    const given = { way: 'PAPER', document: await uploaded(scan()) };
    const sent = await Promise.all(Array.from({ length: 8 }, () => record('dora', given)));
    expect(sent.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
    expect((await record('dora', given)).status).toBe(200);
  });

  it('need a scan that was uploaded in the last hour and that no others have', async () => {
    const said = async (subject: string, document: string) => {
      return faultOf(await record(subject, { way: 'PAPER', document }));
    };
    const refused = ['422 invalid', '/context/collection/document'];
    expect(await said('eve', createHash('sha256').update(randomUUID()).digest('hex'))).toEqual(refused);
    const taken = await uploaded(scan());
    await transactionIn(record('eva', { way: 'PAPER', document: taken }));
    expect(await said('eve', taken)).toEqual(refused);
    const old = await uploaded(scan());
    await letTimePass(instance, '61 minutes');
    expect(await said('eve', old)).toEqual(refused);
    expect(await rowsOf(instance, "SELECT id FROM transactions.transactions WHERE subject = 'eve'")).toEqual(
      [],
    );
    await vi.waitFor(
      async () =>
        expect(
          await rowsOf(instance, 'SELECT id FROM transactions.documents WHERE transaction IS NULL'),
        ).toEqual([]),
      { timeout: 20_000, interval: 50 },
    );
  });

  it('do not say so of changes that the person makes later', async () => {
    const { id } = await transactionIn(record('fay', { way: 'TELEPHONE' }));
    const child = (await (await operator.send('POST', `/consents/${id}/child`)).json()) as { id: string };
    const context = await (await operator.get(`/consents/${child.id}/context`)).json();
    expect(context).not.toHaveProperty('collection');
  });
});

describe('what cannot be', () => {
  it.each([
    [{ way: 'FAX' }, '/way'],
    [{ way: '', givenOn: '2026-03-12' }, '/way'],
    [{ way: 'PAPER', givenOn: '2026-02-30' }, '/givenOn'],
    [{ way: 'PAPER', givenOn: '2126-01-01' }, '/givenOn'],
    [{ way: 'PAPER', givenOn: '1826-01-01' }, '/givenOn'],
    [{ way: 'PAPER', givenOn: '12/03/2026' }, '/givenOn'],
    [{ way: 'PAPER', reference: 'x'.repeat(256) }, '/reference'],
    [{ way: 'PAPER', document: 'AB' }, '/document'],
  ])('is refused at its place: %j', async (collection, pointer) => {
    expect(await faultOf(await record('gil', collection))).toEqual([
      '422 invalid',
      `/context/collection${pointer}`,
    ]);
  });

  it('is a scan that is none, or not of the type that it says', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    for (const [body, type] of [
      [Buffer.from('<html>'), 'application/pdf'],
      [png, 'application/pdf'],
      [Buffer.alloc(0), 'image/png'],
    ] as const)
      expect((await problemOf(await upload(body, type))).said).toBe('422 invalid');
    expect((await problemOf(await upload(png, 'image/svg+xml'))).said).toBe('415 unsupported-media-type');
    expect((await upload(png, 'image/png', user)).status).toBe(403);
  });

  it('is a person who says that the organisation recorded the answers', async () => {
    const context = { layout: 'layout.001', collection: { way: 'PAPER' } };
    const answer = await user.send('POST', '/consents', { subject: 'user', ...context });
    expect((await problemOf(answer)).said).toBe('403 forbidden');
  });
});
