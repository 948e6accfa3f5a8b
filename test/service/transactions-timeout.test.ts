import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  expire,
  type LiveTransaction,
  recordsOf,
} from '../support/instances/live-transactions.ts';

/**
 * One that nobody reads after its deadline, made first so that the sweeper finds it while the other tests
 * run.
 */
let forgotten: LiveTransaction;
const instance = useInstance();
const shop = useSetup(() => createKey(instance));
beforeAll(async () => {
  forgotten = await createTransaction(shop);
  await expire(instance, forgotten);
});

const stateOf = async ({ id }: { id: string }) => (await transactionIn(shop.get(`/consents/${id}`))).state;
const storedState = async ({ id }: { id: string }) =>
  (
    await rowsOf<{ state: string }>(instance, 'SELECT state FROM transactions.transactions WHERE id = $1', [
      id,
    ])
  )[0]?.state;

describe('a transaction past its deadline', () => {
  const expired = async (context = {}) => {
    const transaction = await createTransaction(shop, context);
    await expire(instance, transaction);
    return { transaction, subject: subjectOf(instance, transaction) };
  };

  it('is TIMEOUT for every reader at once', async () => {
    const { transaction, subject } = await expired();
    expect(await stateOf(transaction)).toBe('TIMEOUT');
    const own = await (await subject.get()).json();
    expect(own).toMatchObject({
      state: 'TIMEOUT',
      breed: `${instance.url}/consents/${transaction.id}/child`,
    });
    expect(own).not.toHaveProperty('task');
    const listed = await shop.get(`/transactions?subject=${transaction.subject}`);
    expect(((await listed.json()) as { values: unknown[] }).values).toMatchObject([
      { id: transaction.id, state: 'TIMEOUT' },
    ]);
  });

  it('rejects answers with 410 and stores nothing', async () => {
    const { transaction, subject } = await expired();
    const breed = `${instance.url}/consents/${transaction.id}/child`;
    expect(await problemOf(await subject.submit())).toMatchObject({
      said: '410 expired',
      state: 'TIMEOUT',
      breed,
    });
    expect(await recordsOf(shop, transaction.subject)).toEqual({});
    expect((await shop.get(`/receipts/${transaction.id}`)).status).toBe(404);
  });

  it('shows no form: a conflict for clients, the transaction for browsers', async () => {
    const { subject } = await expired();
    expect(await problemOf(await subject.get('/submit'))).toMatchObject({
      said: '409 wrong-state',
      state: 'TIMEOUT',
    });
    expect((await subject.get('/submit', 'text/html')).status).toBe(303);
  });

  it('has a page with a link to start again or a contact', async () => {
    const restartable = await expired();
    const page = await restartable.subject.get('', 'text/html');
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(text).toContain('The time to answer is over');
    expect(text).toContain(`/consents/${restartable.transaction.id}/child`);
    const final = await expired({ updatable: false });
    const last = await (await final.subject.get('', 'text/html')).text();
    expect(last).not.toContain('/child');
    expect(last).toContain('If you have a question, ask');
  });

  it('answers a form post with that page as 410', async () => {
    const { subject } = await expired();
    const answer = await subject.submitForm({});
    expect(answer.status).toBe(410);
    expect(await answer.text()).toContain('The time to answer is over');
  });

  it('is opened by a token made before its deadline for a day more', async () => {
    const { subject } = await expired();
    expect((await subject.get()).status).toBe(200);
    expect((await subject.post('/child')).status).toBe(201);
  });
});

describe('the deadline', () => {
  it('is the time of creation plus the timeout of the context, by the clock of the database', async () => {
    const [short, long] = [
      await createTransaction(shop, { timeout: 'P1D' }),
      await createTransaction(shop, { timeout: 'P3D' }),
    ];
    await letTimePass(instance, '2 days');
    expect([await stateOf(short), await stateOf(long)]).toEqual(['TIMEOUT', 'CREATED']);
    expect((await subjectOf(instance, short).submit()).status).toBe(410);
    expect((await subjectOf(instance, long).submit()).status).toBe(200);
    await letTimePass(instance, '30 days');
    expect(await stateOf(long)).toBe('COMMITTED');
    await letTimePass(instance, '0');
  });
});

describe('the sweeper', () => {
  it('writes TIMEOUT once within 10 seconds, with its history, without a reader', async () => {
    await vi.waitUntil(async () => (await storedState(forgotten)) === 'TIMEOUT', {
      timeout: 10_000,
      interval: 100,
    });
    const history = await rowsOf(
      instance,
      'SELECT version, state FROM transactions.transaction_history WHERE transaction = $1 ORDER BY version',
      [forgotten.id],
    );
    expect(history).toEqual([
      { version: 1, state: 'CREATED' },
      { version: 2, state: 'TIMEOUT' },
    ]);
  });
});
