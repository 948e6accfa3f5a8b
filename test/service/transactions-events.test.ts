import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, historyOf, keepEvents } from '../support/instances/live-events.ts';
import { complete, letter, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  expire,
  recordAnswers,
  recordsOf,
} from '../support/instances/live-transactions.ts';

let shop: Caller;
/** One whose time runs out while the other tests run. */
let forgotten: { id: string };
const instance = useInstance();
beforeAll(async () => {
  await keepEvents(instance);
  shop = await createKey(instance);
  forgotten = await createTransaction(shop);
  await expire(instance, forgotten);
});

/** Each change of a transaction as its history and its events tell it: both must tell the same. */
const changesOf = async (transaction: { id: string }) => {
  const events = await eventsOf(instance, transaction);
  const told = events.filter(({ event }) => /^io\.accord\.consent\.(?!withdrawn)/.test(event.type));
  const kept = await historyOf(instance, transaction);
  expect(told.map(({ event: { data } }) => ({ version: data.version, state: data.state }))).toEqual(kept);
  return told.map(({ event }) => `${event.data.version} ${event.type.split('.')[3]}`);
};

describe('every change of state writes an event and a row of history', () => {
  it('a creation and a commitment', async () => {
    const transaction = await createTransaction(shop);
    expect(await changesOf(transaction)).toEqual(['1 created']);
    await subjectOf(instance, transaction).submit();
    expect(await changesOf(transaction)).toEqual(['1 created', '2 committed']);
  });

  it('a cancellation', async () => {
    const transaction = await createTransaction(shop);
    await shop.send('POST', `/consents/${transaction.id}/cancel`);
    await shop.send('POST', `/consents/${transaction.id}/cancel`);
    expect(await changesOf(transaction)).toEqual(['1 created', '2 cancelled']);
  });

  it('a single step has an event and a row for both changes', async () => {
    const made = await recordAnswers(shop, 'alice', { [letter]: ['accepted'] });
    expect(await changesOf(made)).toEqual(['1 created', '2 committed']);
  });

  it('a child has a history of its own, and changes nothing in that of its parent', async () => {
    const parent = await createTransaction(shop);
    await subjectOf(instance, parent).submit();
    const child = await transactionIn(subjectOf(instance, parent).post('/child'));
    expect(await changesOf(child)).toEqual(['1 created']);
    await expire(instance, child);
    await subjectOf(instance, parent).post('/child');
    expect(await changesOf(child)).toEqual(['1 created', '2 timedout']);
    expect(await changesOf(parent)).toEqual(['1 created', '2 committed']);
  });

  it('requests without effect write no event', async () => {
    const { id, ...transaction } = await createTransaction(shop, { subject: 'bea' });
    await shop.send('POST', '/consents', { subject: 'bea', layout: 'layout.001' });
    const subject = subjectOf(instance, { id, ...transaction });
    await subject.form();
    await subject.submit({ [letter]: ['perhaps'] });
    await shop.send('POST', '/consents/singlestep', {
      context: { subject: 'bea', layout: 'layout.001' },
      values: {},
    });
    expect(await changesOf({ id })).toEqual(['1 created']);
  });

  it('a passed deadline, when the sweeper records it', async () => {
    await vi.waitUntil(async () => (await historyOf(instance, forgotten)).length > 1, {
      timeout: 10_000,
      interval: 100,
    });
    expect(await changesOf(forgotten)).toEqual(['1 created', '2 timedout']);
  });
});

describe('an event', () => {
  it('is a CloudEvent about the transaction, with ids, state and version alone', async () => {
    const secret = { wishes: 'Zq7 a seat by the door', object: 'Zq7 account', mail: 'zq7@example.org' };
    const transaction = await createTransaction(shop, {
      subject: 'Zq7 Carl',
      object: secret.object,
      subjectInfos: { emailAddress: secret.mail },
      attributes: { note: 'Zq7 note' },
      layoutData: { elements: ['processing.001', 'preference.003'] },
    });
    await subjectOf(instance, transaction).submit({
      [letter]: ['accepted'],
      'element/preference/preference.003/1.0': [secret.wishes],
      comment: ['Zq7 comment'],
    });
    const [, committed] = await eventsOf(instance, transaction);
    expect(committed).toMatchObject({ topic: 'accord.consents', key: transaction.id });
    expect(committed?.event).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'io.accord.consent.committed.v1',
      source: instance.url,
      subject: transaction.id,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    expect(committed?.event.data).toEqual({ transaction: transaction.id, state: 'COMMITTED', version: 2 });
    const all = await rowsOf(instance, 'SELECT event FROM transactions.kept_events');
    expect(JSON.stringify(all)).not.toMatch(/zq7|accepted|refused|processing\.001/i);
  });

  it('reports each superseded record', async () => {
    const first = await recordAnswers(shop, 'dan', { [letter]: ['accepted'] });
    const second = await recordAnswers(shop, 'dan', { [letter]: ['refused'] });
    const superseded = (await eventsOf(instance, first)).at(-1);
    expect(superseded?.event.type).toBe('io.accord.record.superseded.v1');
    const [newer, older] = (await recordsOf(shop, 'dan'))['processing.001'] ?? [];
    expect(superseded?.event.data).toEqual({
      record: older?.serial,
      transaction: first.id,
      by: newer?.serial,
    });
    expect(await changesOf(second)).toEqual(['1 created', '2 committed']);
  });

  it('is published soon after its change', async () => {
    await subjectOf(instance, await createTransaction(shop)).submit(complete);
    await vi.waitUntil(
      async () => (await rowsOf(instance, 'SELECT id FROM transactions.outbox')).length === 0,
      {
        timeout: 5_000,
        interval: 50,
      },
    );
  });
});
