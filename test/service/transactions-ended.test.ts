import { describe, expect, it } from 'vitest';
import { callerWith, createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { complete, letter, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const committed = async (context = {}) => {
  const transaction = await createTransaction(shop, context);
  const subject = subjectOf(instance, transaction);
  const answer = await subject.submit();
  return { transaction, subject, answer };
};

describe('answers that are accepted', () => {
  it('commit the transaction, which has a receipt and no task any more', async () => {
    const { transaction, answer } = await committed();
    expect(answer.status).toBe(200);
    const made = await transactionIn(answer);
    expect(made).toMatchObject({ state: 'COMMITTED', receipt: `${instance.url}/receipts/${transaction.id}` });
    expect(made).not.toHaveProperty('task');
    expect(answer.headers.get('location')).toBe(`${instance.url}/consents/${transaction.id}?t=${made.token}`);
    const seen = await callerWith(instance, {}).get(answer.headers.get('location') as string);
    expect(await seen.json()).toMatchObject({ state: 'COMMITTED' });
  });

  it('of a browser lead to the final page', async () => {
    const transaction = await createTransaction(shop);
    const sent = await subjectOf(instance, transaction).submitForm(complete);
    expect(sent.status).toBe(303);
    const final = await instance.fetch(sent.headers.get('location') as string, {
      headers: { Accept: 'text/html' },
    });
    const page = await final.text();
    expect(final.status).toBe(200);
    for (const text of ['Your answers are saved', 'The programme letter', 'Close', '/receipts/', '/child'])
      expect(page).toContain(text);
  });

  it('may name the information that was shown, and no other', async () => {
    const named = (info: string) => ({ info: [info], ...complete });
    const right = subjectOf(instance, await createTransaction(shop));
    expect((await right.submit(named('element/information/information.001/1.0'))).status).toBe(200);
    const wrong = subjectOf(instance, await createTransaction(shop));
    const problem = await problemOf(await wrong.submit(named('element/information/information.009/1.0')));
    expect(problem).toMatchObject({ said: '422 invalid-answer', errors: [{ pointer: '/info' }] });
  });
});

describe('a committed transaction', () => {
  it('accepts the same answers again and keeps one record of each', async () => {
    const { subject, transaction } = await committed();
    for (const again of [complete, { info: ['element/information/information.001/1.0'], ...complete }])
      expect(await (await subject.submit(again)).json()).toMatchObject({ state: 'COMMITTED' });
    expect((await subject.submitForm(complete)).status).toBe(303);
    const records = await recordsOf(shop, transaction.subject);
    expect(Object.values(records).map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  it('rejects other answers with a 409 that contains its state and the link to change it', async () => {
    const { subject, transaction } = await committed();
    const other = { ...complete, [letter]: ['refused'] };
    const problem = await problemOf(await subject.submit(other));
    expect(problem).toMatchObject({
      said: '409 wrong-state',
      state: 'COMMITTED',
      breed: `${instance.url}/consents/${transaction.id}/child`,
    });
    expect((await subject.submitForm(other)).status).toBe(409);
    expect((await recordsOf(shop, transaction.subject))['processing.001']).toMatchObject([
      { value: 'accepted' },
    ]);
  });

  it('counts another comment as another answer', async () => {
    const { subject } = await committed();
    expect((await problemOf(await subject.submit({ ...complete, comment: ['Thank you'] }))).said).toBe(
      '409 wrong-state',
    );
  });

  it('is reported before an invalid comment, as is a missing right', async () => {
    const { subject, transaction } = await committed();
    const tooLong = { ...complete, comment: ['x'.repeat(4_001)] };
    expect((await problemOf(await subject.submit(tooLong))).said).toBe('409 wrong-state');
    const revoked = subjectOf(instance, { ...transaction, token: 'none' });
    expect((await revoked.submit(tooLong)).status).toBe(401);
    const open = await createTransaction(shop);
    const other = subjectOf(instance, { id: transaction.id, token: open.token });
    expect((await problemOf(await other.submit(tooLong))).said).toBe('404 not-found');
    expect((await problemOf(await subjectOf(instance, open).submit(tooLong))).said).toBe(
      '422 invalid-answer',
    );
  });

  it('has no form any more', async () => {
    const { subject, transaction } = await committed();
    expect((await problemOf(await subject.get('/submit'))).said).toBe('409 wrong-state');
    const browser = await subject.get('/submit', 'text/html');
    expect(browser.status).toBe(303);
    expect(browser.headers.get('location')).toContain(`/consents/${transaction.id}?t=`);
  });

  it('shows its final page as often as its link is opened', async () => {
    const { transaction } = await committed();
    for (let time = 0; time < 3; time += 1)
      expect((await instance.fetch(transaction.url, { headers: { Accept: 'text/html' } })).status).toBe(200);
  });

  it('offers no change if it is not updatable', async () => {
    const { subject } = await committed({ updatable: false });
    const page = await (await subject.get('', 'text/html')).text();
    expect(page).not.toContain('/child');
    expect(await (await subject.get()).json()).toMatchObject({ updatable: false, breed: expect.any(String) });
  });
});

describe('an unknown transaction', () => {
  it('looks the same as a transaction of another subject', async () => {
    const [one, other] = [await createTransaction(shop), await createTransaction(shop)];
    const foreign = await problemOf(await subjectOf(instance, { id: one.id, token: other.token }).get());
    const missing = await problemOf(
      await subjectOf(instance, { id: 'A'.repeat(22), token: other.token }).get(),
    );
    expect(foreign.said).toBe('404 not-found');
    expect({ ...foreign, instance: '' }).toEqual({ ...missing, instance: '' });
  });
});
