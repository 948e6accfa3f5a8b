import { describe, expect, it, onTestFinished } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { openPages } from '../support/console/open-pages.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));
const objection = {
  ...sampleContent.processing,
  title: 'Secondary use of records',
  legalBases: ['LEGAL_BASIS_LEGITIMATE_INTEREST'],
  choice: 'OBJECTION',
};
const use = useSetup(() => makeLiveModel(admin, 'processing', { en: objection }));
const marketing = useSetup(() =>
  makeLiveModel(admin, 'processing', {
    en: { ...objection, title: 'Post', purposes: ['CONSENT_MARKETING'] },
  }),
);
const nameOf = ({ key }: { key: string }) => `element/processing/${key}/1.0`;
const ask = (subject: string, more: object = {}) =>
  createTransaction(shop, {
    subject,
    layoutData: { elements: ['processing.001', use.key], acceptAllVisible: true, ...more },
  });
const childOf = async ({ id }: { id: string }) =>
  (await (await shop.send('POST', `/consents/${id}/child`)).json()) as LiveTransaction;
const pageOf = async (made: { id: string }, headers: Record<string, string> = {}) => {
  const Accept = 'text/html';
  return parsePage(await (await shop.get(`/consents/${made.id}/submit`, { Accept, ...headers })).text());
};
const boxOf = (page: ReturnType<typeof parsePage>, name: string) =>
  page.tagged('input').filter(({ attribs }) => attribs.name === name);
const newest = async (subject: string, { key } = use as { key: string }) =>
  (await recordsOf(shop, subject))[key]?.[0];
const receiptOf = async ({ id }: { id: string }) =>
  (await (await shop.get(`/receipts/${id}`)).json()) as ReceiptBody;
const post = async (made: LiveTransaction, fields: Record<string, string[]>) => {
  const shown = { 'accord-shown': [letter, nameOf(use)], ...fields };
  expect((await subjectOf(instance, made).submitForm(shown)).status).toBe(303);
};
const decide = async (subject: string) =>
  (await (await shop.get(`/decisions?subject=${subject}&element=${use.key}`)).json()) as object;

describe('a processing to which people may object', () => {
  it('has one box that is not ticked; leaving it so is no objection, and allows the use', async () => {
    expect(await decide('ann')).toMatchObject({ allowed: false, reason: 'NO_ANSWER' });
    const made = await ask('ann');
    const page = await pageOf(made);
    const [box, ...others] = boxOf(page, nameOf(use));
    expect(others).toEqual([]);
    expect(box?.attribs).toMatchObject({ type: 'checkbox', value: 'refused' });
    expect(box?.attribs).not.toHaveProperty('checked');
    expect(page.text()).toContain('I object');
    await post(made, { [letter]: ['refused'] });
    expect(await newest('ann')).toMatchObject({ value: 'accepted', status: 'VALID', basis: 'OBJECTION' });
    expect(await decide('ann')).toMatchObject({ allowed: true, reason: 'GIVEN', basis: 'OBJECTION' });
    for (const Accept of ['text/html', 'text/plain'])
      expect(await (await shop.get(`/receipts/${made.id}`, { Accept })).text()).toContain('No objection');
    const linked = await (await shop.get(`/receipts/${made.id}?format=application/ld%2Bjson`)).text();
    expect(linked).toMatch(/"@type":"dpv:DataProcessingRecord".*Secondary use/);
  });

  it('is objected to by the box and taken back by the box of a child, each a new answer', async () => {
    const made = await ask('bob');
    await post(made, { [letter]: ['accepted'], [nameOf(use)]: ['refused'] });
    expect(await decide('bob')).toMatchObject({ allowed: false, reason: 'REFUSED', basis: 'OBJECTION' });
    expect(await (await shop.get(`/receipts/${made.id}`, { Accept: 'text/plain' })).text()).toContain(
      'Objected',
    );
    const child = await childOf(made);
    expect(boxOf(await pageOf(child), nameOf(use))[0]?.attribs).toHaveProperty('checked');
    await post(child, { [letter]: ['accepted'] });
    expect(await decide('bob')).toMatchObject({ allowed: true, basis: 'OBJECTION' });
  });

  it('may be left out in JSON, which takes no objection back', async () => {
    const made = await ask('cyd');
    const { elements } = (await (await shop.get(`/consents/${made.id}/submit`)).json()) as {
      elements: { identifier: string; required: boolean; answers: string[] }[];
    };
    expect(elements.find(({ identifier }) => identifier === nameOf(use))).toMatchObject({
      required: false,
      answers: ['accepted', 'refused'],
    });
    expect((await subjectOf(instance, made).submit({ [letter]: ['accepted'] })).status).toBe(200);
    expect(await newest('cyd')).toMatchObject({ value: 'accepted', status: 'VALID' });
    const child = await childOf(made);
    const objecting = { [letter]: ['accepted'], [nameOf(use)]: ['refused'] };
    expect((await subjectOf(instance, child).submit(objecting)).status).toBe(200);
    const second = await childOf(child);
    expect((await subjectOf(instance, second).submit({ [letter]: ['refused'] })).status).toBe(200);
    expect(await newest('cyd')).toMatchObject({ value: 'refused', status: 'VALID' });
    const third = await childOf(second);
    const explicit = { [letter]: ['refused'], [nameOf(use)]: ['accepted'] };
    expect((await subjectOf(instance, third).submit(explicit)).status).toBe(200);
    expect(await newest('cyd')).toMatchObject({ value: 'accepted', status: 'VALID' });
  });

  it('is left as it is by "accept all", and objected to by "refuse all"', async () => {
    const [first, second, third] = [await ask('dan'), await ask('dee'), await ask('dot')];
    await post(first, { 'accord-action': ['accept-all'] });
    expect(await newest('dan')).toMatchObject({ value: 'accepted' });
    await post(second, { 'accord-action': ['refuse-all'] });
    expect(await newest('dee')).toMatchObject({ value: 'refused' });
    await post(third, { 'accord-action': ['accept-all'], [nameOf(use)]: ['refused'] });
    expect(await newest('dot')).toMatchObject({ value: 'refused' });
  });

  it('is ticked in advance by Global Privacy Control for marketing, and the form says so', async () => {
    const made = await ask('eve', { elements: [marketing.key, use.key] });
    const page = await pageOf(made, { 'Sec-GPC': '1' });
    expect(boxOf(page, nameOf(marketing))[0]?.attribs).toHaveProperty('checked');
    expect(boxOf(page, nameOf(use))[0]?.attribs).not.toHaveProperty('checked');
    expect(page.text().replaceAll(/\s+/g, ' ')).toContain('the objection is selected here in advance');
  });

  it('is objected to with the operation that withdraws consents, which says so', async () => {
    const made = await ask('fay');
    await post(made, { [letter]: ['accepted'] });
    const withdrawn = await shop.send('POST', `/consents/${made.id}/withdraw`);
    expect(withdrawn.status).toBe(201);
    const result = (await withdrawn.json()) as components['schemas']['Transaction'];
    expect(result.objected).toEqual([nameOf(use)]);
    expect(await decide('fay')).toMatchObject({ allowed: false, basis: 'OBJECTION' });
    const again = await shop.send('POST', `/consents/${made.id}/withdraw`, { elements: [nameOf(use)] });
    expect([again.status, ((await again.json()) as typeof result).objected]).toEqual([200, [nameOf(use)]]);
    expect((await receiptOf(result)).consents.map(({ answer }) => answer)).toEqual([
      ['refused'],
      ['refused'],
    ]);
    const both = await (await shop.get(`/consents/${result.id}`, { Accept: 'text/html' })).text();
    for (const text of ['Your consent was withdrawn', 'The withdrawal does not', 'The objection does not'])
      expect(both).toContain(text);
    const named = await ask('gil');
    await post(named, { [letter]: ['accepted'] });
    const one = { subject: 'gil', elements: [use.key] };
    const { transactions } = (await (await shop.send('POST', '/choices/withdraw', one)).json()) as {
      transactions: (typeof result)[];
    };
    expect(transactions.map(({ objected }) => objected)).toEqual([[nameOf(use)]]);
    const page = await (await shop.get(`/consents/${transactions[0]?.id}`, { Accept: 'text/html' })).text();
    for (const text of ['Your objection is recorded', 'Objected']) expect(page).toContain(text);
    expect(await newest('gil', { key: 'processing.001' })).toMatchObject({ value: 'accepted' });
  });

  it('is confirmed on the page of choices in its own words, also at a second click', async () => {
    await post(await ask('gus'), { [letter]: ['accepted'] });
    const { url } = (await (await shop.send('POST', '/choices', { subject: 'gus' })).json()) as {
      url: string;
    };
    const gus = choicesVisitor(instance);
    const click = async (name: string) => {
      const sent = await gus.post(url.replace('/choices?', '/choices/withdraw?'), [['elements', name]]);
      return (await gus.get(sent.headers.get('location') ?? '')).text();
    };
    for (const html of [await click(nameOf(use)), await click(nameOf(use))])
      expect(html).toContain('Your objection is recorded. Everybody who has to know is being told.');
    expect(await click(letter)).toContain('Your consent was withdrawn. Everybody who has to know');
  });

  it('has a button on the page of its answers to object, and none to withdraw', async () => {
    const made = await ask('hal');
    await post(made, { [letter]: ['refused'] });
    const html = await (await shop.get(`/consents/${made.id}`, { Accept: 'text/html' })).text();
    expect(html).toMatch(/<button class="withdraw"[^>]*>I object/);
    expect(html).not.toMatch(/<button class="withdraw"[^>]*>Withdraw/);
    const objected = await shop.send('POST', `/consents/${made.id}/withdraw`, { elements: [nameOf(use)] });
    expect(objected.status).toBe(201);
    expect(
      parsePage(await (await shop.get(`/consents/${made.id}`, { Accept: 'text/html' })).text()).text(),
    ).toContain('Objected on');
  });

  it('is shown before it counts, where it was added after the page was opened', async () => {
    const made = await ask('ida');
    const stale = await subjectOf(instance, made).submitForm({
      'accord-shown': [letter],
      [letter]: ['accepted'],
    });
    expect(stale.status).toBe(409);
    expect(await recordsOf(shop, 'ida')).toEqual({});
  });
});

describe('the content of a processing', () => {
  const check = async (content: object) => {
    const { id } = (await (
      await admin.send('POST', '/models', { type: 'processing', name: 'Checked' })
    ).json()) as { id: string };
    const draft = { defaultLanguage: 'en', data: { en: content } };
    const answer = await admin.send('POST', `/models/${id}/versions`, draft);
    return { id, status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  it('takes one word for how it is answered: choice, or refusable, or both alike', async () => {
    const { processing } = sampleContent;
    const none = await check({ ...processing, choice: 'NONE' });
    expect(none.body).toMatchObject({ data: { en: { refusable: false } } });
    for (const unequal of [
      { choice: 'NONE', refusable: true },
      { choice: 'CONSENT', refusable: false },
      { choice: 'OBJECTION', refusable: false },
    ]) {
      const { status, body } = await check({ ...processing, ...unequal });
      expect([status, body.errors]).toMatchObject([422, [{ pointer: '/data/en/choice' }]]);
    }
    const both = await check({ ...processing, choice: 'CONSENT', refusable: true });
    expect(both.status).toBe(201);
  });

  it('cannot let people object to what rests on consent, and is warned of other bases, which bar nothing', async () => {
    const refused = await check({ ...objection, legalBases: ['LEGAL_BASIS_CONSENT'] });
    expect([refused.status, refused.body.errors]).toMatchObject([
      422,
      [{ pointer: '/data/en/legalBases', code: 'objection-to-consent' }],
    ]);
    const { id, body } = await check({ ...objection, legalBases: ['LEGAL_BASIS_CONTRACT'] });
    const checked = await admin.get(`/models/${id}/versions/${String(body.id)}/check`);
    const { faults, advice, checklist } = (await checked.json()) as {
      faults: unknown[];
      advice: { code: string }[];
      checklist: { code: string; met: boolean }[];
    };
    expect(checklist.find(({ code }) => code === 'objection-basis')?.met).toBe(false);
    expect([faults, advice.map(({ code }) => code)]).toEqual([[], ['recipients']]);
  });
});

it('an objection that the staff record for a person is called so in the console', async () => {
  const clerk = await openPages(instance, 'clerk');
  onTestFinished(clerk.close);
  const textOf = async (path: string) => (await clerk.get(path)).text();
  await post(await ask('by letter'), { [nameOf(use)]: [], [letter]: ['accepted'] });
  const found = await clerk.post('/console/subjects', { word: 'by letter' });
  const path = found.headers.get('location') ?? '';
  const link = /href="([^"]*\/object\?[^"]*)"/.exec(await textOf(path))?.[1] ?? '';
  const { searchParams } = new URL(link.replaceAll('&amp;', '&'), 'http://x');
  const asked = await textOf(link.replaceAll('&amp;', '&'));
  expect(asked).toContain('Record that by letter objects to “');
  expect(asked).not.toMatch(/consent ends|withdraw/i);
  const done = await clerk.post(`${path}/object`, { ...Object.fromEntries(searchParams), way: 'LETTER' });
  expect(done.status).toBe(303);
  expect(await textOf(done.headers.get('location') ?? '')).toContain('The objection is recorded.');
  expect(await decide('by%20letter')).toMatchObject({ reason: 'WITHDRAWN', basis: 'OBJECTION' });
  for (const page of [path, '/console/transactions'])
    expect(await textOf(page)).toContain('Withdrawal or objection');
});
