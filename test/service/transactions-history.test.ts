import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { complete, letter, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, expire, recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

type History = components['schemas']['TransactionHistory'];
type Made = { id: string };

const send = ({ id }: Made, step: string, body: object) => shop.send('POST', `/consents/${id}/${step}`, body);
const historyOf = async ({ id }: Made) =>
  ((await (await shop.get(`/consents/${id}/history`)).json()) as History).values;
const statesOf = async (made: Made) =>
  (await historyOf(made)).map(({ version, state }) => `${version} ${state}`);

describe('the history of a transaction', () => {
  it('begins with its creation', async () => {
    const made = await createTransaction(shop);
    const { created } = await transactionIn(shop.get(`/consents/${made.id}`));
    expect(await historyOf(made)).toEqual([{ version: 1, state: 'CREATED', at: created }]);
  });

  it('has every state with its time, oldest first', async () => {
    const made = await createTransaction(shop, { confirmation: 'FORM_CODE' });
    await send(made, 'submit', complete);
    const { code } = (await (await shop.get(`/consents/${made.id}/confirm`)).json()) as { code: string };
    await send(made, 'confirm', { code });
    expect(await statesOf(made)).toEqual(['1 CREATED', '2 SUBMITTED', '3 COMMITTED']);
    const times = (await historyOf(made)).map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  });

  it('has both states of a transaction that was created and committed in one step', async () => {
    const made = await recordAnswers(shop, 'ann', { [letter]: ['accepted'] });
    expect(await statesOf(made)).toEqual(['1 CREATED', '2 COMMITTED']);
  });

  it('ends with the final state as soon as the deadline has passed', async () => {
    const made = await createTransaction(shop);
    await expire(instance, made);
    expect(await statesOf(made)).toEqual(['1 CREATED', '2 TIMEOUT']);
  });

  it('of an unknown transaction is a 404', async () => {
    expect((await shop.get('/consents/1111111111111111111111/history')).status).toBe(404);
  });
});
