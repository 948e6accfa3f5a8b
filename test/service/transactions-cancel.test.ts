import { describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, expire, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const cancel = (caller: Caller, { id }: { id: string }) => caller.send('POST', `/consents/${id}/cancel`);
const stateOf = async ({ id }: { id: string }) => (await transactionIn(shop.get(`/consents/${id}`))).state;

describe('cancelling', () => {
  it('is allowed to privileged callers, even if the context is not cancellable', async () => {
    for (const caller of [shop, await signIn(instance, 'operator'), await signIn(instance, 'admin')]) {
      const transaction = await createTransaction(shop, { cancellable: false });
      const answer = await cancel(caller, transaction);
      expect(answer.status).toBe(200);
      const cancelled = await transactionIn(answer);
      expect(cancelled).toMatchObject({ id: transaction.id, state: 'CANCELLED' });
      expect(cancelled).not.toHaveProperty('task');
      expect(cancelled).not.toHaveProperty('receipt');
    }
  });

  it('is allowed to the subject if the context is cancellable, else rejected', async () => {
    const user = await signIn(instance, 'user');
    const free = () => createTransaction(shop, { cancellable: true, subject: 'user' });
    expect((await subjectOf(instance, await free()).post('/cancel')).status).toBe(200);
    expect((await cancel(user, await free())).status).toBe(200);
    const bound = await createTransaction(shop, { subject: 'user' });
    for (const answer of [await subjectOf(instance, bound).post('/cancel'), await cancel(user, bound)])
      expect((await problemOf(answer)).said).toBe('403 forbidden');
    expect(await stateOf(bound)).toBe('CREATED');
  });

  it('returns 404 to other users', async () => {
    const [one, other] = [
      await createTransaction(shop, { cancellable: true }),
      await createTransaction(shop, { cancellable: true }),
    ];
    const foreign = subjectOf(instance, { id: one.id, token: other.token });
    expect((await problemOf(await foreign.post('/cancel'))).said).toBe('404 not-found');
    expect((await problemOf(await cancel(await signIn(instance, 'user'), one))).said).toBe('404 not-found');
    expect(await stateOf(one)).toBe('CREATED');
  });

  it('is rejected in a final state', async () => {
    const transaction = await createTransaction(shop);
    expect((await cancel(shop, transaction)).status).toBe(200);
    expect(await problemOf(await cancel(shop, transaction))).toMatchObject({
      said: '409 wrong-state',
      state: 'CANCELLED',
    });
  });

  it('redirects a browser to the page of the cancelled transaction', async () => {
    const transaction = await createTransaction(shop, { cancellable: true });
    const answer = await subjectOf(instance, transaction).post('/cancel', 'text/html');
    expect(answer.status).toBe(303);
    const page = await instance.fetch(answer.headers.get('location') as string, {
      headers: { Accept: 'text/html' },
    });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Cancelled')]);
  });

  it('stores no record, and answers are rejected afterwards', async () => {
    const transaction = await createTransaction(shop);
    await cancel(shop, transaction);
    const problem = await problemOf(await subjectOf(instance, transaction).submit());
    expect(problem).toMatchObject({
      said: '409 wrong-state',
      state: 'CANCELLED',
      breed: `${instance.url}/consents/${transaction.id}/child`,
    });
    expect(problem).not.toHaveProperty('task');
    expect(await recordsOf(shop, transaction.subject)).toEqual({});
  });

  it('is rejected once the transaction is committed or past its deadline', async () => {
    const committed = await createTransaction(shop);
    await subjectOf(instance, committed).submit();
    const expired = await createTransaction(shop);
    await expire(instance, expired);
    for (const [transaction, state] of [
      [committed, 'COMMITTED'],
      [expired, 'TIMEOUT'],
    ] as const) {
      expect(await problemOf(await cancel(shop, transaction))).toMatchObject({
        said: '409 wrong-state',
        state,
      });
      expect(await stateOf(transaction)).toBe(state);
    }
  });

  it('and a concurrent submission: one succeeds, the other one gets a conflict', async () => {
    for (let round = 0; round < 6; round += 1) {
      const transaction = await createTransaction(shop);
      const subject = subjectOf(instance, transaction);
      const [cancelled, submitted] = await Promise.all(
        round % 2
          ? [cancel(shop, transaction), subject.submit()]
          : [subject.submit(), cancel(shop, transaction)].reverse(),
      );
      const winners = [cancelled, submitted].filter((answer) => answer?.status === 200);
      expect(winners).toHaveLength(1);
      const state = winners[0] === cancelled ? 'CANCELLED' : 'COMMITTED';
      expect(await stateOf(transaction)).toBe(state);
      const loser = winners[0] === cancelled ? submitted : cancelled;
      expect(await problemOf(loser as Response)).toMatchObject({ said: '409 wrong-state', state });
    }
  });
});
