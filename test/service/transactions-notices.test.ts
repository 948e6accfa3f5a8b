import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import {
  type Answers,
  letter,
  problemOf,
  subjectOf,
  transactionIn,
} from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

/** The demonstration's booking, which rests on a contract and cannot be refused. */
const booking = 'element/processing/processing.003/1.0';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const both = { elements: ['processing.001', 'processing.003'], acceptAllVisible: true };
async function open(layoutData: object = both, context: Record<string, unknown> = {}) {
  const made = await createTransaction(operator, { layoutData, language: 'en', ...context });
  return { made, as: subjectOf(instance, made) };
}
const receiptOf = async ({ id }: { id: string }) =>
  (await operator.get(`/receipts/${id}`)).json() as Promise<components['schemas']['Receipt']>;
const pageOf = async ({ id, token }: { id: string; token: string }, path = '') =>
  parsePage(await (await subjectOf(instance, { id, token }).get(path, 'text/html')).text());

describe('a processing that cannot be refused', () => {
  it('is shown without a control, with the reason why there is no choice, in the reader’s language', async () => {
    const reasons = {
      en: 'No choice is offered here, because it is needed for a contract with you.',
      fr: 'Aucun choix n’est proposé pour ce traitement, car il est nécessaire à l’exécution d’un contrat avec vous.',
      ar: 'لا يعرض عليك اختيار هنا لأن',
    };
    for (const [language, reason] of Object.entries(reasons)) {
      const { made } = await open(both, { language });
      const page = await pageOf(made, '/submit');
      expect(page.text()).toContain(reason);
      expect(page.tagged('input').filter(({ attribs }) => attribs.name === booking)).toEqual([]);
    }
  });

  it('need not be answered in JSON, and its form says so', async () => {
    const { made, as } = await open();
    const { elements } = await as.form();
    expect(elements.map(({ answers, required }) => ({ answers, required }))).toEqual([
      { answers: ['accepted', 'refused'], required: true },
      { answers: ['accepted'], required: false },
    ]);
    expect((await as.submit({ [letter]: ['refused'] })).status).toBe(200);
    const records = await recordsOf(operator, made.subject);
    expect(records['processing.001']).toMatchObject([{ value: 'refused', status: 'VALID' }]);
    expect(records['processing.003']).toMatchObject([{ value: 'accepted', status: 'VALID' }]);
  });

  it('cannot be refused: 422, and nothing is stored', async () => {
    const { made, as } = await open();
    const answer = await as.submit({ [letter]: ['refused'], [booking]: ['refused'] });
    expect(await problemOf(answer)).toMatchObject({
      said: '422 invalid-answer',
      errors: [{ pointer: `/${booking.replaceAll('/', '~1')}`, code: 'not-refusable' }],
    });
    expect(await recordsOf(operator, made.subject)).toEqual({});
  });

  it('does not count when answers are compared', async () => {
    const named = { [letter]: ['accepted'], [booking]: ['accepted'] };
    const unnamed = { [letter]: ['accepted'] };
    for (const [first, again] of [
      [named, unnamed],
      [unnamed, named],
    ] as [Answers, Answers][]) {
      const { as } = await open();
      for (const answers of [first, again, first]) expect((await as.submit(answers)).status).toBe(200);
      expect((await problemOf(await as.submit({ [letter]: ['refused'] }))).said).toBe('409 wrong-state');
    }
    const context = { subject: randomUUID(), layoutData: both };
    const [made, same] = await Promise.all([
      ...[await operator.send('POST', '/consents/singlestep', { context, values: unnamed })].map(
        transactionIn,
      ),
      transactionIn(operator.send('POST', '/consents/singlestep', { context, values: named })),
    ]);
    expect(same?.id).toBe(made?.id);
  });

  it('is on the final page and the receipt as shown without a choice', async () => {
    const { made, as } = await open();
    await as.submit({ [letter]: ['refused'] });
    const { consents } = await receiptOf(made);
    expect(consents.map(({ answer, options }) => ({ answer, options }))).toEqual([
      { answer: ['refused'], options: ['accepted', 'refused'] },
      { answer: ['accepted'], options: [] },
    ]);
    expect((await pageOf(made)).text()).toContain('Shown; no choice offered');
    const html = await (await operator.get(`/receipts/${made.id}?format=html`)).text();
    expect(parsePage(html).text()).toContain('Shown; no choice offered');
  });

  it('is not counted as a decision in statistics', async () => {
    const { as } = await open({ elements: ['processing.003'] });
    await as.submit({});
    const { elements } = (await (await operator.get('/stats')).json()) as components['schemas']['Stats'];
    expect(elements.map(({ key }) => key)).not.toContain('processing.003');
  });

  it('alone makes a form with one button, and is not asked again', async () => {
    const { made, as } = await open({ elements: ['processing.003'], acceptAllVisible: true });
    const buttons = (await pageOf(made, '/submit')).tagged('button');
    expect(buttons.map(({ attribs }) => attribs.value)).toEqual(['submit']);
    expect((await as.submitForm({ 'accord-shown': [booking] })).status).toBe(303);
    expect(await transactionIn(as.get())).toMatchObject({ state: 'COMMITTED' });
    const hiding = { elements: ['processing.003'], existingElementsVisible: false };
    const { as: again } = await open(hiding, { subject: made.subject });
    expect((await again.form()).elements).toEqual([]);
  });
});

describe('accept-all and refuse-all', () => {
  const press = async (layoutData: object, action: string, answers: Answers = {}) => {
    const { made, as } = await open(layoutData);
    const shown = (await as.form()).elements.map(({ identifier }) => identifier);
    const answer = await as.submitForm({ 'accord-action': [action], 'accord-shown': shown, ...answers });
    const { state } = await transactionIn(as.get());
    return {
      status: answer.status,
      state,
      html: await answer.text(),
      records: await recordsOf(operator, made.subject),
    };
  };

  it('both end in COMMITTED where something cannot be refused', async () => {
    for (const [action, value] of [
      ['accept-all', 'accepted'],
      ['refuse-all', 'refused'],
    ] as const) {
      const { status, state, records } = await press(both, action);
      expect([status, state]).toEqual([303, 'COMMITTED']);
      expect(records['processing.001']).toMatchObject([{ value }]);
      expect(records['processing.003']).toMatchObject([{ value: 'accepted' }]);
    }
  });

  it('answer toggles: the first option refuses, the second accepts', async () => {
    const content = { en: { label: 'Letters?', valueType: 'TOGGLE', options: ['No letters', 'Letters'] } };
    const { key } = await makeLiveModel(admin, 'preference', content);
    const layoutData = { elements: ['processing.001', key], acceptAllVisible: true };
    for (const [action, value] of [
      ['accept-all', 'Letters'],
      ['refuse-all', 'No letters'],
    ] as const) {
      const { state, records } = await press(layoutData, action);
      expect(state).toBe('COMMITTED');
      expect(records[key]).toMatchObject([{ value }]);
    }
  });

  it('both report a required preference without an answer, and keep all other answers', async () => {
    const asked = { label: 'How often?', valueType: 'RADIO_BUTTONS', options: ['Weekly', 'Monthly'] };
    const { key } = await makeLiveModel(admin, 'preference', { en: asked });
    const layoutData = { elements: ['processing.001', key, 'preference.003'], acceptAllVisible: true };
    const remark = 'element/preference/preference.003/1.0';
    for (const [action, value] of [
      ['accept-all', 'accepted'],
      ['refuse-all', 'refused'],
    ] as const) {
      const { status, state, html } = await press(layoutData, action, { [remark]: ['Row three, please'] });
      expect([status, state]).toEqual([422, 'CREATED']);
      const page = parsePage(html);
      const checked = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
      expect(checked.map(({ attribs }) => [attribs.name, attribs.value])).toEqual([[letter, value]]);
      expect(page.text()).toContain('Row three, please');
      expect(page.text()).toContain('One answer needs your attention');
    }
  });

  it('are carried out on every form of the demonstration that shows them, and so is a form that is partly answered', async () => {
    const questions = ['processing.001', 'processing.002', 'processing.003', 'preference.001'];
    const more = ['preference.002', 'preference.003'];
    for (const elements of [questions, [...questions, ...more], ['processing.001', 'preference.001']]) {
      const layoutData = { elements, acceptAllVisible: true };
      const { made } = await open(layoutData);
      expect((await pageOf(made, '/submit')).text()).toContain('Refuse all');
      for (const action of ['accept-all', 'refuse-all'])
        expect(await press(layoutData, action)).toMatchObject({ status: 303, state: 'COMMITTED' });
    }
    const both = { [letter]: ['refused'], 'element/processing/processing.002/1.0': ['refused'] };
    const partly = await press({ elements: questions }, 'submit', both);
    expect(partly).toMatchObject({ status: 303, state: 'COMMITTED' });
  });

  it('are not offered where pressing one would be a fault', async () => {
    const asked = { label: 'How often?', valueType: 'RADIO_BUTTONS', options: ['Weekly', 'Monthly'] };
    const { key } = await makeLiveModel(admin, 'preference', { en: asked });
    const { made } = await open({ elements: ['processing.001', key], acceptAllVisible: true });
    expect((await pageOf(made, '/submit')).text()).not.toContain('Refuse all');
  });

  it('do not accept conditions that cannot be refused; only the subject can', async () => {
    const { key } = await makeLiveModel(admin, 'conditions', {
      en: { ...sampleContent.conditions, refusable: false },
    });
    const layoutData = { elements: ['conditions.001', key], acceptAllVisible: true };
    const tick = `element/conditions/${key}/1.0`;
    for (const action of ['accept-all', 'refuse-all']) {
      expect(await press(layoutData, action)).toMatchObject({ status: 422, state: 'CREATED' });
      expect(await press(layoutData, action, { [tick]: ['accepted'] })).toMatchObject({ state: 'COMMITTED' });
    }
  });
});

it('An optional question without an answer is listed on the receipt and is not recorded as an answer', async () => {
  const remark = 'element/preference/preference.003/1.0';
  const { made, as } = await open({ elements: ['processing.001', 'preference.003'] });
  await as.submit({ [letter]: ['accepted'] });
  const receipt = await receiptOf(made);
  expect(receipt.consents.map(({ identifier }) => identifier)).toEqual([letter]);
  expect(receipt.unanswered?.map(({ identifier }) => identifier)).toEqual([remark]);
  const html = await (await operator.get(`/receipts/${made.id}?format=html`)).text();
  expect(parsePage(html).text()).toContain('No answer');
  expect(Object.keys(await recordsOf(operator, made.subject))).toEqual(['processing.001']);
});
