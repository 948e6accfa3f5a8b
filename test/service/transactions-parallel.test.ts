import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { eventsOf, historyOf, keepEvents } from '../support/instances/live-events.ts';
import { complete, letter, problemOf, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';

let shop: Caller;
const instance = useInstance();
beforeAll(async () => {
  await keepEvents(instance);
  shop = await createKey(instance);
});

const open = async () => {
  const transaction = await createTransaction(shop);
  return { transaction, subject: subjectOf(instance, transaction) };
};
const valuesOf = async (subject: string) =>
  Object.fromEntries(
    Object.entries(await recordsOf(shop, subject)).map(([key, records]) => [
      key,
      records.map(({ value }) => value),
    ]),
  );

describe('the same answers, sent many times at once', () => {
  it('all succeed and store one set of records, one receipt and one event', async () => {
    const { transaction, subject } = await open();
    const sent = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 3 ? subject.submit() : subject.submitForm(complete))),
    );
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 303]));
    expect(await valuesOf(transaction.subject)).toEqual({
      'processing.001': ['accepted'],
      'processing.002': ['refused'],
      'preference.001': ['Every week'],
    });
    expect((await historyOf(instance, transaction)).map(({ state }) => state)).toEqual([
      'CREATED',
      'COMMITTED',
    ]);
    const types = (await eventsOf(instance, transaction)).map(({ event }) => event.type);
    expect(types).toEqual(['io.accord.consent.created.v1', 'io.accord.consent.committed.v1']);
  });
});

describe('other answers, sent at the same time', () => {
  it('one set is stored completely, and the others get a conflict', async () => {
    const { transaction, subject } = await open();
    const sets = ['accepted', 'refused'].flatMap((one) =>
      ['accepted', 'refused'].map((other) => ({ ...complete, [letter]: [one], [study]: [other] })),
    );
    const sent = await Promise.all(sets.map((answers) => subject.submit(answers)));
    const winner = sent.findIndex(({ status }) => status === 200);
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const [index, answer] of sent.entries())
      if (index !== winner)
        expect(await problemOf(answer)).toMatchObject({
          said: '409 wrong-state',
          state: 'COMMITTED',
          breed: `${instance.url}/consents/${transaction.id}/child`,
        });
    expect(await valuesOf(transaction.subject)).toEqual({
      'processing.001': sets[winner]?.[letter],
      'processing.002': sets[winner]?.[study],
      'preference.001': ['Every week'],
    });
    expect((await subject.submit(sets[winner])).status).toBe(200);
  });
});

describe('two transactions of one subject, answered at the same time', () => {
  it('both commit, and one answer to each element is valid', async () => {
    const [one, other] = [
      await createTransaction(shop, { subject: 'alice' }),
      await createTransaction(shop, { subject: 'alice', attributes: { again: 'yes' } }),
    ];
    const sent = await Promise.all([
      subjectOf(instance, one).submit(),
      subjectOf(instance, other).submit({ ...complete, [letter]: ['refused'] }),
    ]);
    expect(sent.map(({ status }) => status)).toEqual([200, 200]);
    for (const records of Object.values(await recordsOf(shop, 'alice')))
      expect(records.map(({ status }) => status)).toEqual(['VALID', 'OBSOLETE']);
  });
});
