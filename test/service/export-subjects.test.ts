import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));

interface Export {
  subject: { id: string; name: string };
  transactions: {
    id: string;
    records: { element: string; answers: string[]; comment?: string }[];
    receipt?: { consents: { identifier: string; texts: object }[] };
    recipients: object[];
  }[];
  audit: Record<string, string>[];
}

const read = async (answer: Promise<Response>) => (await (await answer).json()) as Export;

it('an export has all of a person, page by page, and is audited without names', async () => {
  const made: string[] = [];
  for (const object of ['one', 'two', 'three'])
    made.unshift((await recordAnswers(shop, 'eve', { [letter]: ['accepted'] }, { object })).id);
  await recordAnswers(shop, 'somebody else', { [letter]: ['accepted'] });
  const whole = await read(operator.get('/subjects/eve/export'));
  expect(whole.transactions.map(({ id }) => id)).toEqual(made);
  for (const { records, receipt } of whole.transactions) {
    expect(records).toMatchObject([{ element: letter, answers: ['accepted'], state: 'COMMITTED' }]);
    expect(receipt?.consents[0]).toMatchObject({ identifier: letter, texts: expect.anything() });
  }
  const again = await read(shop.get('/subjects/eve/export'));
  expect(again.audit[0]).toEqual({ at: expect.any(String), action: 'subject.exported', by: 'account' });
  const lines = await rowsOf<{ target: string; kind: string }>(
    instance,
    `SELECT target, actor_kind AS kind FROM transactions.audit_log WHERE action = 'subject.exported' ORDER BY at`,
  );
  const target = `subject/${whole.subject.id}`;
  expect(lines).toEqual([
    { target, kind: 'account' },
    { target, kind: 'key' },
  ]);
  const first = await operator.get('/subjects/eve/export?limit=2');
  const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const rest = await read(operator.get(next.slice(instance.url.length)));
  expect(rest.transactions.map(({ id }) => id)).toEqual(made.slice(2));
});

it('people export themselves only, and no line of the audit log tells of it', async () => {
  await recordAnswers(shop, 'user', { [letter]: ['refused'] });
  const own = await read(user.get('/subjects/user/export'));
  expect(own.transactions).toHaveLength(1);
  expect((await user.get('/subjects/eve/export')).status).toBe(404);
  expect((await operator.get('/subjects/nobody at all/export')).status).toBe(404);
});

it('an export names who was told of a withdrawal, without the note of the organisation', async () => {
  const { id } = await recordAnswers(shop, 'fay', { [letter]: ['accepted'] });
  await shop.send('POST', `/consents/${id}/withdraw`);
  await rowsOf(
    instance,
    `INSERT INTO transactions.notices (withdrawal, recipient, kind, name, state, note, version, since, created_at)
     SELECT t.id, 'a-webhook', 'RECIPIENT', 'Letters Ltd', 'ACKNOWLEDGED', 'kept for the tax office', 1, now(), now()
       FROM transactions.transactions AS t WHERE t.parent = '${id}'`,
  );
  const { transactions } = await read(operator.get('/subjects/fay/export'));
  expect(transactions.map(({ recipients }) => recipients)).toEqual([
    [{ name: 'Letters Ltd', kind: 'RECIPIENT', state: 'ACKNOWLEDGED', since: expect.any(String) }],
    [],
  ]);
  const html = await (await operator.get('/subjects/fay/export?format=html')).text();
  expect(html).toContain('Letters Ltd');
  expect(html).not.toContain('tax office');
});

it('an export has the hold, the requests for erasure and what the context says, but no name of an employee', async () => {
  const context = {
    author: 'Employee Smith',
    origin: 'OPERATOR',
    validity: 'P2Y',
    callback: 'https://shop.example/thanks',
    notificationRecipient: 'ivy-news@example.org',
  };
  await recordAnswers(operator, 'user', { [letter]: ['accepted'] }, context);
  const person = user;
  const admin = await signIn(instance, 'admin');
  const send = async (method: 'POST' | 'PUT', path: string, body?: object, by = admin) =>
    (await (await by.send(method, path, body)).json()) as { id: string };
  const refused = await send('POST', '/choices/erasure', { reason: 'I have moved.' }, person);
  await send('PUT', `/erasures/${refused.id}/status`, { status: 'REFUSED', ground: 'Kept by law' });
  const open = await send('POST', '/choices/erasure', { reason: 'Please again.' }, person);
  const hold = { reason: 'Claim 9', restrict: true, until: '2099-01-01T00:00:00.000Z' };
  await send('PUT', '/subjects/user/hold', hold);

  const answer = await (await person.get('/subjects/user/export')).text();
  const own = JSON.parse(answer) as components['schemas']['SubjectExport'];
  expect(own.hold).toEqual({ ...hold, since: expect.any(String) });
  const times = { created: expect.any(String), due: expect.any(String) };
  expect(own.erasures).toEqual([
    { ...times, id: open.id, state: 'REQUESTED', reason: 'Please again.' },
    { ...times, id: refused.id, state: 'REFUSED', ground: 'Kept by law', done: expect.any(String) },
  ]);
  const { author, ...kept } = context;
  expect(own.transactions[0]).toMatchObject({ author: 'STAFF', context: kept });
  expect(own.transactions[0]?.context).not.toHaveProperty('author');

  const page = parsePage(await (await person.get('/subjects/user/export?format=html')).text());
  const html = plainSpaces(page.text());
  for (const text of ['Claim 9', 'Please again.', 'Kept by law', kept.callback, kept.notificationRecipient])
    expect(html).toContain(text);
  expect(html).toContain('2 years');
  expect(html).toContain('Staff, without names');
  expect(html).not.toContain(author);
});

describe('an export as HTML', () => {
  const open = async (subject: string, query = '', headers: Record<string, string> = {}) => {
    const path = `/subjects/${subject}/export${query}`;
    const response = await instance.fetch(path, {
      headers: { ...operator.headers, Accept: 'text/html', ...headers },
    });
    return { response, page: parsePage(await response.text()) };
  };

  it('is a document for keeping: an attachment that loads nothing, runs nothing and has no token', async () => {
    await recordAnswers(shop, 'gus', { [letter]: ['accepted'] });
    const { response, page } = await open('gus');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="Riverside-Theatre-export-\d{4}-\d\d-\d\d\.html"$/,
    );
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline';/,
    );
    expect(page.tagged('style')).toHaveLength(1);
    for (const tag of ['link', 'script', 'img', 'iframe', 'form']) expect(page.tagged(tag), tag).toEqual([]);
    expect(page.text()).not.toMatch(/eyJ|url\(/);
    expect(page.text()).toContain('gus');
  });

  it.each([
    ['?language=fr', 'en', 'fr', 'Vos données chez'],
    ['', 'ar', 'ar', 'بياناتك لدى'],
    ['?format=html&language=xx', 'fr', 'en', 'Your data at'],
  ])('speaks the language of %s and Accept-Language %s', async (query, accepted, lang, title) => {
    await recordAnswers(shop, 'hal', { [letter]: ['accepted'] }, { object: lang });
    const { page } = await open('hal', query, { 'Accept-Language': accepted });
    expect(page.tagged('html')[0]?.attribs.lang).toBe(lang);
    expect(
      page
        .tagged('h1')
        .map((each) => page.text(each))
        .join(),
    ).toContain(title);
  });

  it('has the newest 1,000 transactions in one document, and says that there are more', async () => {
    await recordAnswers(shop, 'ida', { [letter]: ['accepted'] });
    await rowsOf(
      instance,
      `INSERT INTO transactions.transactions
       SELECT (jsonb_populate_record(t, jsonb_build_object(
                'id', translate(lpad(n::text, 22, 'B'), '0', 'A'), 'created_at', t.created_at + n * interval '1 s'))).*
         FROM transactions.transactions AS t, generate_series(1, 1000) AS n WHERE t.subject = 'ida'`,
    );
    const { page } = await open('ida');
    const values = page.tagged('bdi').map((each) => page.text(each));
    const shown = values.filter((text) => /^B{18,}[1-9A]+$/.test(text));
    const made = Array.from({ length: 1_000 }, (_, index) =>
      String(1_000 - index)
        .padStart(22, 'B')
        .replaceAll('0', 'A'),
    );
    expect(shown).toEqual(made);
    expect(page.text()).toContain('the 1,000 newest requests');
  });

  it('that cannot be completed breaks off, and never ends as if it were whole', async () => {
    const { id } = await recordAnswers(shop, 'joe', { [letter]: ['accepted'] });
    await rowsOf(instance, `UPDATE transactions.receipts SET body = '{}' WHERE transaction = '${id}'`);
    const download = async () => (await operator.get('/subjects/joe/export?format=html')).text();
    await expect(download()).rejects.toMatchObject({ cause: { message: 'aborted' } });
    expect((await operator.get('/subjects/ida/export?format=html')).status).toBe(200);
  });

  it('is refused in other formats and for other people, like the JSON', async () => {
    expect((await operator.get('/subjects/user/export?format=pdf')).status).toBe(406);
    expect((await user.get('/subjects/user/export?format=html')).status).toBe(200);
    expect((await user.get('/subjects/gus/export?format=html')).status).toBe(404);
  });
});
