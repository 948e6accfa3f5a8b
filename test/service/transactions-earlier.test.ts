import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { letter, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

let shop: Caller;
let admin: Caller;
const instance = useInstance();
beforeAll(async () => {
  [shop, admin] = [await createKey(instance), await signIn(instance, 'admin')];
});

const two = { elements: ['processing.001', 'processing.002'] };
const open = async (subject: string, context: Record<string, unknown> = {}) => {
  const transaction = await createTransaction(shop, { subject, layoutData: two, ...context });
  return { transaction, as: subjectOf(instance, transaction) };
};
/** Earlier answers that the form of a new transaction shows, by key. */
const shownTo = async (subject: string, context: Record<string, unknown> = {}) => {
  const { elements } = await (await open(subject, context)).as.form();
  return Object.fromEntries(elements.map(({ entry, previous }) => [entry.key, previous?.answers ?? null]));
};

describe('earlier answers', () => {
  it('are shown in the form with serial and time', async () => {
    await recordAnswers(shop, 'alice', { [letter]: ['refused'] });
    const { as } = await open('alice');
    const { elements } = await as.form();
    expect(elements[0]?.previous).toEqual({
      identifier: letter,
      answers: ['refused'],
      created: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(elements[1]?.previous).toBeNull();
    const page = parsePage(await (await as.get('/submit', 'text/html')).text());
    const checked = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
    expect(checked.map(({ attribs }) => [attribs.name, attribs.value])).toEqual([[letter, 'refused']]);
  });

  it('are the newest of the same subject and object', async () => {
    await recordAnswers(shop, 'bea', { [letter]: ['accepted'] });
    await recordAnswers(shop, 'bea', { [letter]: ['refused'] });
    await recordAnswers(shop, 'bea', { [letter]: ['accepted'] }, { object: 'account 7' });
    expect(await shownTo('bea')).toMatchObject({ 'processing.001': ['refused'] });
    expect(await shownTo('bea', { object: 'account 7' })).toMatchObject({ 'processing.001': ['accepted'] });
    expect(await shownTo('bea', { object: 'account 8' })).toMatchObject({ 'processing.001': null });
    expect(await shownTo('Bea')).toMatchObject({ 'processing.001': null });
  });

  it('are not shown in a silent transaction', async () => {
    await recordAnswers(shop, 'carl', { [letter]: ['accepted'] });
    expect(await shownTo('carl', { silent: true })).toEqual({
      'processing.001': null,
      'processing.002': null,
    });
  });

  it('are shown in the current wording of the form', async () => {
    const often = 'element/preference/preference.001/1.0';
    await recordAnswers(shop, 'dan', { [often]: ['Once a month'] });
    const context = { layoutData: { elements: ['preference.001'] }, language: 'fr' };
    expect(await shownTo('dan', context)).toEqual({ 'preference.001': ['Une fois par mois'] });
  });

  it('are shown after a MINOR, and not after a MAJOR or their expiry', async () => {
    const content = { en: sampleContent.processing };
    const { id, key } = await makeLiveModel(admin, 'processing', content);
    const layoutData = { elements: [key] };
    await recordAnswers(
      shop,
      'eve',
      { [`element/processing/${key}/1.0`]: ['accepted'] },
      { validity: 'P5M' },
    );
    await activateContent(admin, { id, key }, content, 'MINOR');
    expect(await shownTo('eve', { layoutData })).toEqual({ [key]: ['accepted'] });
    await letTimePass(instance, '7 months');
    expect(await shownTo('eve', { layoutData, attributes: { a: 'b' } })).toEqual({ [key]: null });
    await letTimePass(instance, '0');
    await activateContent(admin, { id, key }, content, 'MAJOR');
    expect(await shownTo('eve', { layoutData, attributes: { a: 'c' } })).toEqual({ [key]: null });
  });
});

describe('a layout that hides what has a valid answer', () => {
  const layoutData = { ...two, existingElementsVisible: false };
  const hiding = { layoutData };

  it('asks only the other questions and leaves the earlier record unchanged', async () => {
    await recordAnswers(shop, 'fred', { [letter]: ['refused'] });
    const { as } = await open('fred', hiding);
    expect((await as.form()).elements.map(({ identifier }) => identifier)).toEqual([study]);
    expect((await as.submit({ [study]: ['accepted'] })).status).toBe(200);
    const records = await recordsOf(shop, 'fred');
    expect(records['processing.001']).toMatchObject([{ value: 'refused', status: 'VALID' }]);
    expect(records['processing.002']).toMatchObject([{ value: 'accepted' }]);
  });

  it('says "already answered" when nothing is left, and takes an empty submission without a record', async () => {
    const { transaction } = await open('gina');
    await subjectOf(instance, transaction).submit({ [letter]: ['accepted'], [study]: ['refused'] });
    const { as } = await open('gina', hiding);
    expect((await as.form()).elements).toEqual([]);
    expect(await (await as.get('/submit', 'text/html')).text()).toContain('You have already answered');
    expect(await (await as.submit({})).json()).toMatchObject({ state: 'COMMITTED' });
    expect((await recordsOf(shop, 'gina'))['processing.001']).toHaveLength(1);
  });

  it('hides nothing in a silent transaction, and asks again about expired answers', async () => {
    await recordAnswers(shop, 'hope', { [letter]: ['accepted'] }, { validity: 'P1M' });
    expect(Object.keys(await shownTo('hope', { ...hiding, silent: true }))).toHaveLength(2);
    expect(Object.keys(await shownTo('hope', hiding))).toEqual(['processing.002']);
    await letTimePass(instance, '5 weeks');
    expect(Object.keys(await shownTo('hope', { ...hiding, attributes: { a: 'b' } }))).toHaveLength(2);
    await letTimePass(instance, '0');
  });
});

describe('the page "already answered"', () => {
  /**
   * Has a subject answer an element, open the page, and press its button after a new MAJOR.
   * @returns the response, the records of the element and the receipt.
   */
  async function pressed(type: string, content: Record<string, unknown>, answer: string) {
    const model = await makeLiveModel(admin, type, { en: content });
    const { subject } = await recordAnswers(shop, `again-${model.key}`, {
      [`element/${type}/${model.key}/1.0`]: [answer],
    });
    const layoutData = { elements: [model.key], existingElementsVisible: false };
    const made = await createTransaction(shop, { subject, layoutData });
    const page = parsePage(await (await subjectOf(instance, made).get('/submit', 'text/html')).text());
    const form = page.tagged('form')[0];
    const fields = [...page.tagged('input'), ...page.tagged('button')].filter(
      ({ parent, attribs }) => parent === form && attribs.name,
    );
    await activateContent(admin, model, { en: content }, 'MAJOR');
    const response = await instance.fetch(form?.attribs.action ?? '', {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams(
        fields.map(({ attribs }): [string, string] => [attribs.name ?? '', attribs.value ?? '']),
      ),
    });
    const receipt = (await (await shop.get(`/receipts/${made.id}`)).json()) as object;
    return { response, records: (await recordsOf(shop, subject))[model.key], receipt };
  }

  it('records nothing for check boxes that it did not show', async () => {
    const content = {
      label: 'Topics',
      valueType: 'CHECKBOXES',
      optional: true,
      options: ['Drama', 'Dance'],
    };
    const { response, records, receipt } = await pressed('preference', content, 'Dance');
    expect(response.status).toBe(303);
    expect(records).toMatchObject([{ value: 'Dance' }]);
    expect(receipt).toMatchObject({ consents: [] });
  });

  it('leads to a receipt without the optional question that it did not show', async () => {
    const content = { label: 'A wish', valueType: 'FREE_TEXT', optional: true };
    const { response, receipt } = await pressed('preference', content, 'A seat at the aisle');
    expect(response.status).toBe(303);
    expect(receipt).toMatchObject({ consents: [] });
    expect(receipt).not.toHaveProperty('unanswered');
  });

  it('leads to the form if there is a new notice, which is not recorded as shown', async () => {
    const content = { ...sampleContent.processing, title: 'A new letter', refusable: false };
    const { response, records } = await pressed('processing', content, 'accepted');
    expect(response.status).toBe(409);
    expect(await response.text()).toContain('A new letter');
    expect(records).toHaveLength(1);
  });
});
