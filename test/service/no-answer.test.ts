import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { type LiveModel, makeLiveModel } from '../support/instances/live-models.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';

type Transaction = components['schemas']['Transaction'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));
const question = (valueType: string, more: object = {}): Promise<LiveModel> =>
  makeLiveModel(admin, 'preference', {
    en: {
      label: `How often (${valueType})`,
      options: ['Weekly', 'Monthly'],
      valueType,
      optional: true,
      ...more,
    },
  });
const models = useSetup(async () => ({
  radios: await question('RADIO_BUTTONS'),
  toggle: await question('TOGGLE'),
  list: await question('LIST_SINGLE'),
  text: await question('FREE_TEXT', { options: undefined }),
  boxes: await question('CHECKBOXES'),
}));
const named = () =>
  Object.fromEntries(
    Object.entries(models).map(([name, { key }]) => [name, `element/preference/${key}/1.0`]),
  ) as Record<keyof typeof models, string>;
const ask = (subject: string) =>
  createTransaction(shop, { subject, layoutData: { elements: Object.values(models).map(({ key }) => key) } });
const childOf = async ({ id }: { id: string }) =>
  (await (await shop.send('POST', `/consents/${id}/child`)).json()) as LiveTransaction;

/** The page of a form, and what a browser sends of it without any change. */
async function openPage({ id }: { id: string }) {
  const html = await (await shop.get(`/consents/${id}/submit`, { Accept: 'text/html' })).text();
  const page = parsePage(html);
  const fields: Record<string, string[]> = {};
  const add = (name: string | undefined, value: string) => {
    if (name) fields[name] = [...(fields[name] ?? []), value];
  };
  for (const { attribs } of page.tagged('input'))
    if (attribs.type === 'hidden' || attribs.checked !== undefined) add(attribs.name, attribs.value ?? '');
  return { html, page, fields };
}
const receiptOf = async ({ id }: { id: string }) =>
  (await (await shop.get(`/receipts/${id}`)).json()) as ReceiptBody;

describe('a question that need not be answered', () => {
  it('has "No answer" last, selected if nothing was answered, and an empty first option in a list', async () => {
    const { radios, toggle, list, boxes } = named();
    const made = await ask('ann');
    const { page, fields } = await openPage(made);
    for (const name of [radios, toggle]) {
      const inputs = page.tagged('input').filter(({ attribs }) => attribs.name === name);
      expect(inputs.map(({ attribs }) => attribs.value)).toEqual(['Weekly', 'Monthly', '']);
      expect(inputs.map(({ attribs }) => attribs.checked !== undefined)).toEqual([false, false, true]);
    }
    expect(page.text()).toContain('No answer');
    const select = page.tagged('select').find(({ attribs }) => attribs.name === list);
    expect(select).toBeDefined();
    expect(page.tagged('option')[0]?.attribs.value).toBe('');
    expect(fields).not.toHaveProperty('accord-earlier');
    expect((await subjectOf(instance, made).submitForm(fields)).status).toBe(303);
    const records = await recordsOf(shop, 'ann');
    expect(Object.keys(records), 'boxes without a tick are an answer').toEqual([boxes.split('/')[2]]);
    expect((await receiptOf(made)).unanswered).toHaveLength(4);
  });

  it('is cleared in a child if the person chooses so, and stays answered otherwise', async () => {
    const { radios, toggle, list, text, boxes } = named();
    const made = await ask('bob');
    const answers = { [radios]: ['Weekly'], [toggle]: ['Monthly'], [list]: ['Weekly'], [text]: ['Often'] };
    expect((await subjectOf(instance, made).submit({ ...answers, [boxes]: ['Weekly'] })).status).toBe(200);
    const child = await childOf(made);
    const { fields } = await openPage(child);
    expect(fields['accord-earlier']).toEqual([radios, toggle, list, text]);
    // The toggle keeps its answer.
    const cleared = { ...fields, [radios]: [''], [list]: [''], [text]: ['  '] };
    expect((await subjectOf(instance, child).submitForm(cleared)).status).toBe(303);
    const records = await recordsOf(shop, 'bob');
    const newest = (name: string) => records[name.split('/')[2] ?? '']?.[0];
    for (const name of [radios, list, text]) {
      expect(newest(name)).toMatchObject({
        values: [],
        status: 'IRRELEVANT',
        statusExplanation: 'NO_ANSWER',
        transaction: child.id,
      });
      expect(records[name.split('/')[2] ?? '']?.[1]).toMatchObject({ status: 'OBSOLETE' });
    }
    expect(newest(toggle)).toMatchObject({ values: ['Monthly'], status: 'VALID' });
    const receipt = await receiptOf(child);
    expect(receipt.consents.find(({ identifier }) => identifier === radios)).toMatchObject({ answer: [] });
    for (const Accept of ['text/html', 'text/plain'])
      expect(await (await shop.get(`/receipts/${child.id}`, { Accept })).text()).toContain('No answer');
    // Nothing is in force: the next form has nothing selected, and offers nothing to clear.
    const again = await openPage(await childOf(child));
    expect(again.fields['accord-earlier']).toEqual([toggle]);
    const counted = (await (await admin.get(`/stats/valid?elements=${models.radios.key}`)).json()) as object;
    expect(JSON.stringify(counted)).not.toContain('"subjects":1');
  });

  it('is not cleared by JSON that leaves it out or empty, nor by a page that did not show its earlier answer', async () => {
    const { radios, boxes } = named();
    const made = await ask('cyd');
    await subjectOf(instance, made).submit({ [radios]: ['Weekly'], [boxes]: [] });
    const child = await childOf(made);
    expect((await subjectOf(instance, child).submit({ [radios]: [''], [boxes]: [] })).status).toBe(200);
    const { [models.radios.key]: records } = await recordsOf(shop, 'cyd');
    expect(records).toMatchObject([{ values: ['Weekly'], status: 'VALID' }]);
    const second = await childOf(child);
    const { fields } = await openPage(second);
    const { 'accord-earlier': _shown, ...posted } = fields;
    expect((await subjectOf(instance, second).submitForm({ ...posted, [radios]: [''] })).status).toBe(303);
    expect((await recordsOf(shop, 'cyd'))[models.radios.key]).toHaveLength(1);
  });

  it('cleared before a code counts from the code, and the transaction is asked again for an equal context', async () => {
    const { radios, boxes } = named();
    const context = { subject: 'dee', layoutData: { elements: [models.radios.key, models.boxes.key] } };
    const made = await createTransaction(shop, { ...context, confirmation: 'FORM_CODE' });
    const confirm = async ({ id }: { id: string }) => {
      const { code } = (await (await shop.get(`/consents/${id}/confirm`)).json()) as { code: string };
      expect((await shop.send('POST', `/consents/${id}/confirm`, { code })).status).toBe(200);
    };
    await subjectOf(instance, made).submit({ [radios]: ['Weekly'], [boxes]: ['Weekly'] });
    await confirm(made);
    const child = await childOf(made);
    const { fields } = await openPage(child);
    await subjectOf(instance, child).submitForm({ ...fields, [radios]: [''] });
    expect((await recordsOf(shop, 'dee'))[models.radios.key]?.[1]).toMatchObject({ status: 'VALID' });
    await confirm(child);
    expect((await recordsOf(shop, 'dee'))[models.radios.key]).toMatchObject([
      { values: [], statusExplanation: 'NO_ANSWER' },
      { status: 'OBSOLETE' },
    ]);
    const again = await shop.send('POST', '/consents', { ...context, confirmation: 'FORM_CODE' });
    expect([again.status, ((await again.json()) as Transaction).id]).toEqual([200, child.id]);
  });
});
