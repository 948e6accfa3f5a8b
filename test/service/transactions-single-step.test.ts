import { describe, expect, it } from 'vitest';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { complete, letter, problemOf, study, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop: Caller = useSetup(() => createKey(instance));

const step = (subject: string, values: unknown = complete, more = {}, caller = shop) =>
  caller.send('POST', '/consents/singlestep', {
    context: { subject, layout: 'layout.001', ...more },
    values,
  });
const stored = (subject: string) =>
  rowsOf(instance, 'SELECT id FROM transactions.transactions WHERE subject = $1', [subject]);

describe('a single step', () => {
  it('creates and commits at once', async () => {
    const answer = await step('alice');
    expect(answer.status).toBe(201);
    const made = await transactionIn(answer);
    expect(made).toMatchObject({ subject: 'alice', state: 'COMMITTED' });
    expect(made).not.toHaveProperty('task');
    expect(answer.headers.get('location')).toContain(`/consents/${made.id}?t=`);
    const records = await recordsOf(shop, 'alice');
    expect(Object.keys(records).sort()).toEqual(['preference.001', 'processing.001', 'processing.002']);
    expect(records['processing.001']).toMatchObject([{ value: 'accepted', author: 'shop', status: 'VALID' }]);
    expect((await shop.get(`/receipts/${made.id}`)).status).toBe(200);
  });

  it('returns the same transaction for the same answers', async () => {
    const [first, second] = [await step('bea'), await step('bea')];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect((await transactionIn(second)).id).toBe((await transactionIn(first)).id);
    expect(await stored('bea')).toHaveLength(1);
  });

  it('that answers an open transaction states the author of the answers, not that of the creation', async () => {
    const operator = await signIn(instance, 'operator');
    const context = { subject: 'berta', layout: 'layout.001' };
    const open = await createTransaction(operator, { ...context, author: 'Desk 1' });
    const answer = await step('berta', complete, { author: 'Desk 2' }, operator);
    expect(await transactionIn(answer)).toMatchObject({ id: open.id, state: 'COMMITTED' });
    const { 'processing.001': letters } = await recordsOf(shop, 'berta');
    expect(letters).toMatchObject([{ author: 'Desk 2' }]);
  });

  it('creates another transaction for other answers, which replace the first ones', async () => {
    await step('carl');
    expect((await step('carl', { ...complete, [letter]: ['refused'] })).status).toBe(201);
    const { 'processing.001': letters } = await recordsOf(shop, 'carl');
    expect(letters?.map(({ value, status }) => `${value} ${status}`)).toEqual([
      'refused VALID',
      'accepted OBSOLETE',
    ]);
  });

  it('stores one record of each answer for concurrent equal requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => step('dan')));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect((await recordsOf(shop, 'dan'))['processing.001']).toHaveLength(1);
    expect(await stored('dan')).toHaveLength(1);
  });

  it('answers the open transaction of an equal context', async () => {
    const { id } = await createTransaction(shop, { subject: 'eve' });
    expect(await (await step('eve')).json()).toMatchObject({ id, state: 'COMMITTED' });
  });

  it('is a conflict while other answers to an equal context await their code; the same answers are not', async () => {
    const withCode = { confirmation: 'FORM_CODE' };
    const { id } = await transactionIn(step('fay', complete, withCode));
    const other = await step('fay', { ...complete, [letter]: ['refused'] }, withCode);
    expect((await problemOf(other)).said).toBe('409 wrong-state');
    expect(await transactionIn(step('fay', complete, withCode))).toMatchObject({ id, state: 'SUBMITTED' });
    expect(await stored('fay')).toHaveLength(1);
  });

  it.each([
    ['a missing answer', { [letter]: ['accepted'] }, '422 invalid-answer'],
    ['an answer that is not offered', { ...complete, [letter]: ['perhaps'] }, '422 invalid-answer'],
    [
      'an unknown element',
      { ...complete, 'element/processing/none/1.0': ['accepted'] },
      '422 invalid-answer',
    ],
    ['answers that are no map', ['accepted'], '400 malformed'],
  ])('with %s does nothing at all', async (what, values, said) => {
    const problem = await problemOf(await step(`with ${what}`, values));
    expect(problem.said).toBe(said);
    for (const { pointer } of (problem.errors ?? []) as { pointer: string }[])
      expect(pointer).toMatch(/^\/values/);
    expect(await stored(`with ${what}`)).toEqual([]);
  });

  it('with an invalid context stores nothing and reports pointers', async () => {
    const problem = await problemOf(await step('fred', complete, { validity: 'long' }));
    expect(problem).toMatchObject({ errors: [{ pointer: '/context/validity' }] });
    expect(await stored('fred')).toEqual([]);
  });

  it('is forbidden to users and subjects', async () => {
    const user = await signIn(instance, 'user');
    expect((await step('user', complete, {}, user)).status).toBe(403);
    expect((await step('user', complete, {}, callerWith(instance, {}))).status).toBe(401);
    const { token } = await createTransaction(shop);
    const subject = callerWith(instance, { Authorization: `Transaction ${token}` });
    expect((await step('user', complete, {}, subject)).status).toBe(403);
  });

  it('without an answer returns the same transaction until its validity has passed', async () => {
    const layoutData = { elements: ['processing.001'], existingElementsVisible: false };
    await recordAnswers(shop, 'hugo', { [letter]: ['accepted'] });
    const send = () => step('hugo', {}, { layout: '', layoutData, validity: 'P1M' });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status]).toEqual([201, 200]);
    expect((await transactionIn(again)).id).toBe((await transactionIn(first)).id);
    await letTimePass(instance, '5 weeks');
    const later = await send();
    await letTimePass(instance, '0');
    expect(later.status).toBe(201);
  });

  it("asks again for answers that have expired by the database's time", async () => {
    const layoutData = { elements: ['processing.001', 'processing.002'], existingElementsVisible: false };
    const context = { layout: '', layoutData, validity: 'P1M' };
    const both = { [letter]: ['accepted'], [study]: ['refused'] };
    expect((await step('gina', both, context)).status).toBe(201);
    expect((await step('gina', {}, { ...context, object: '', attributes: { a: 'b' } })).status).toBe(201);
    await letTimePass(instance, '5 weeks');
    const again = await problemOf(await step('gina', {}, { ...context, attributes: { a: 'c' } }));
    await letTimePass(instance, '0');
    expect(again.said).toBe('422 invalid-answer');
  });
});
