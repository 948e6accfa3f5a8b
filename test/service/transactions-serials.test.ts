import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import {
  activateContent,
  type LiveModel,
  makeLiveModel,
  withdrawModel,
} from '../support/instances/live-models.ts';
import { type LiveForm, letter, problemOf, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

let shop: Caller;
let admin: Caller;
const instance = useInstance();
beforeAll(async () => {
  [shop, admin] = [await createKey(instance), await signIn(instance, 'admin')];
});

const content = { en: sampleContent.processing };
const identifier = ({ key }: LiveModel, serial: string) => `element/processing/${key}/${serial}`;
const renew = (element: LiveModel, kind: 'MAJOR' | 'MINOR') => activateContent(admin, element, content, kind);
/** A transaction that asks for `processing.001` and an element of its own. */
const open = async (element?: LiveModel) => {
  const own = element ?? (await makeLiveModel(admin, 'processing', content));
  const layoutData = { elements: ['processing.001', own.key] };
  const transaction = await createTransaction(shop, { layoutData });
  return { own, transaction, subject: subjectOf(instance, transaction) };
};
const answersTo = (own: LiveModel, serial: string) => ({
  [letter]: ['refused'],
  [identifier(own, serial)]: ['accepted'],
});

describe('the page of a form that was shown before', () => {
  it('shows a new MAJOR and a new MINOR at once, and no element that was withdrawn', async () => {
    const { own, transaction } = await open();
    const { task, token } = transaction;
    const page = async () =>
      (await callerWith(instance, { Accept: 'text/html' }).get(`${task}?t=${token}`)).text();
    expect(await page()).toContain(identifier(own, '1.0'));
    expect(await page()).toContain(identifier(own, '1.0'));
    await renew(own, 'MINOR');
    expect(await page()).toContain(identifier(own, '1.1'));
    await renew(own, 'MAJOR');
    expect(await page()).toContain(identifier(own, '2.0'));
    await withdrawModel(admin, own);
    const last = await page();
    expect(last).not.toContain(own.key);
    expect(last).toContain(letter);
  });
});

describe('the serial of an answer', () => {
  it('may be a MINOR that was active at the creation, and is recorded as shown', async () => {
    const { own, transaction, subject } = await open();
    await renew(own, 'MINOR');
    expect((await subject.form()).elements[1]?.serial).toBe('1.1');
    expect((await subject.submit(answersTo(own, '1.0'))).status).toBe(200);
    const { [own.key]: records } = await recordsOf(shop, transaction.subject);
    expect(records).toMatchObject([{ bodySerial: '1.0', status: 'VALID' }]);
  });

  it('may be a newer MINOR than the one at the creation', async () => {
    const { own, subject } = await open();
    await renew(own, 'MINOR');
    expect((await subject.submit(answersTo(own, '1.1'))).status).toBe(200);
  });

  it('may not be a MINOR that was archived before the creation or never existed', async () => {
    const own = await makeLiveModel(admin, 'processing', content);
    await renew(own, 'MINOR');
    const { subject } = await open(own);
    const said = await Promise.all(
      ['1.0', '1.7', '9.0'].map(async (serial) => {
        const { said } = await problemOf(await subject.submit(answersTo(own, serial)));
        return `${serial}: ${said}`;
      }),
    );
    expect(said).toEqual(['1.0: 409 stale-serial', '1.7: 422 invalid-answer', '9.0: 422 invalid-answer']);
    expect((await subject.submit(answersTo(own, '1.1'))).status).toBe(200);
  });

  it('of an older MAJOR is stale: 409 with the link to the form, and nothing is stored', async () => {
    const { own, transaction, subject } = await open();
    await renew(own, 'MAJOR');
    const problem = await problemOf(await subject.submit(answersTo(own, '1.0')));
    expect(problem).toMatchObject({
      said: '409 stale-serial',
      task: expect.stringContaining(`${transaction.task}?t=`),
      errors: [{ pointer: `/${identifier(own, '1.0').replaceAll('/', '~1')}` }],
    });
    const told = async (query: string) => {
      const answers = answersTo(own, '1.0');
      const { task } = await problemOf(await subject.submit(answers, query));
      return new URL(task as string).searchParams.get('language');
    };
    expect([await told('&language=fr'), await told('')]).toEqual(['fr', null]);
    const prefixed = { [letter]: ['refused'], [`bloc/a/${identifier(own, '1.0')}`]: ['accepted'] };
    expect((await problemOf(await subject.submit(prefixed))).errors).toMatchObject([
      { pointer: `/bloc~1a~1${identifier(own, '1.0').replaceAll('/', '~1')}` },
    ]);
    expect(await recordsOf(shop, transaction.subject)).toEqual({});
    const form = (await (await instance.fetch(problem.task as string)).json()) as LiveForm;
    expect(form.elements[1]).toMatchObject({ serial: '2.0' });
    expect((await subject.submit(answersTo(own, '2.0'))).status).toBe(200);
  });

  it('of the information is stale if it has a new MAJOR', async () => {
    const information = await makeLiveModel(admin, 'information', { en: sampleContent.information });
    const layoutData = { info: information.key, elements: ['processing.001'] };
    const subject = subjectOf(instance, await createTransaction(shop, { layoutData }));
    await activateContent(admin, information, { en: sampleContent.information }, 'MAJOR');
    const answers = { info: [`element/information/${information.key}/1.0`], [letter]: ['accepted'] };
    const problem = await problemOf(await subject.submit(answers));
    expect(problem).toMatchObject({ said: '409 stale-serial', errors: [{ pointer: '/info' }] });
    const newest = { ...answers, info: [`element/information/${information.key}/2.0`] };
    expect((await subject.submit(newest)).status).toBe(200);
  });
});

describe('a browser whose form has become stale', () => {
  it('gets the form again as 409: the other answers are kept, the changed question is marked and open', async () => {
    const { own, transaction, subject } = await open();
    await renew(own, 'MAJOR');
    const answer = await subject.submitForm(answersTo(own, '1.0'));
    expect(answer.status).toBe(409);
    const page = parsePage(await answer.text());
    const checked = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
    expect(checked.map(({ attribs }) => `${attribs.name} ${attribs.value}`)).toEqual([`${letter} refused`]);
    expect(page.text()).toContain('New or changed');
    const names = page.tagged('input').map(({ attribs }) => attribs.name);
    expect(names).toContain(identifier(own, '2.0'));
    expect(names).not.toContain(identifier(own, '1.0'));
    expect(await recordsOf(shop, transaction.subject)).toEqual({});
    expect((await subject.submitForm(answersTo(own, '2.0'))).status).toBe(303);
  });

  it('is told that a question was removed and that nothing was sent, and keeps the other answers', async () => {
    const { own, transaction, subject } = await open();
    const shown = [letter, identifier(own, '1.0')];
    await withdrawModel(admin, own);
    const answer = await subject.submitForm({ 'accord-shown': shown, [letter]: ['refused'] });
    expect(answer.status).toBe(409);
    const page = parsePage(await answer.text());
    expect(page.text()).toContain('One question has been removed since you opened this page.');
    expect(page.text()).toContain('Your answers have not been sent yet.');
    const checked = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
    expect(checked.map(({ attribs }) => `${attribs.name} ${attribs.value}`)).toEqual([`${letter} refused`]);
    expect(await recordsOf(shop, transaction.subject)).toEqual({});
    expect((await subject.submitForm({ 'accord-shown': [letter], [letter]: ['refused'] })).status).toBe(303);
  });

  it('gets all questions marked and open if the information has a new MAJOR', async () => {
    const information = await makeLiveModel(admin, 'information', { en: sampleContent.information });
    const layoutData = { info: information.key, elements: ['processing.001'] };
    const subject = subjectOf(instance, await createTransaction(shop, { layoutData }));
    await activateContent(admin, information, { en: sampleContent.information }, 'MAJOR');
    const info = [`element/information/${information.key}/1.0`];
    const answer = await subject.submitForm({ info, 'accord-shown': [letter], [letter]: ['accepted'] });
    expect(answer.status).toBe(409);
    const page = parsePage(await answer.text());
    expect(page.text()).toContain('New or changed');
    expect(page.tagged('input').filter(({ attribs }) => 'checked' in attribs)).toEqual([]);
  });

  it('gets the form again as 422 when an answer is missing, with the fault at its question', async () => {
    const { own, subject } = await open();
    const answer = await subject.submitForm({ [letter]: ['refused'] });
    expect(answer.status).toBe(422);
    const page = parsePage(await answer.text());
    const invalid = page.elements.filter(({ attribs }) => attribs['aria-invalid'] === 'true');
    expect(invalid.length).toBeGreaterThan(0);
    const checked = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
    expect(checked.map(({ attribs }) => attribs.name)).toEqual([letter]);
    expect((await subject.submitForm(answersTo(own, '1.0'))).status).toBe(303);
  });
});
