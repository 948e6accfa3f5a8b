import { describe, expect, it } from 'vitest';
import type { Line } from '../load/history.ts';
import type { CarriedEvent } from './evidence.ts';
import { findBreaches } from './find-breaches.ts';
import type { Stored } from './stored.ts';

const answers: Record<string, string> = { 'processing.001': 'accepted', 'processing.002': 'refused' };

/** What clients were told, and what is stored, carried and received, when all is well. */
function sound() {
  const history: Line[] = [
    { request: 1, told: 'unknown', kind: 'create', subject: 'anna' },
    { request: 1, told: 'acknowledged', kind: 'create', subject: 'anna', id: 'a' },
    { request: 2, told: 'acknowledged', kind: 'submit', id: 'a', answers },
    { request: 3, told: 'refused', kind: 'submit', id: 'a', answers: { 'processing.001': 'refused' } },
    { request: 4, told: 'acknowledged', kind: 'child', parent: 'a', subject: 'anna', id: 'child' },
    { request: 5, told: 'acknowledged', kind: 'create', subject: 'bert', id: 'b' },
    { request: 6, told: 'acknowledged', kind: 'cancel', id: 'b' },
    { request: 7, told: 'acknowledged', kind: 'single step', subject: 'carla', answers, id: 'c' },
    { request: 8, told: 'acknowledged', kind: 'create', subject: 'dora', isNotified: true, id: 'd' },
    { request: 9, told: 'acknowledged', kind: 'submit for a code', id: 'd' },
    { request: 10, told: 'refused', kind: 'guess', id: 'd' },
    { request: 11, told: 'acknowledged', kind: 'confirm', id: 'd', answers },
    { request: 12, told: 'acknowledged', kind: 'create', subject: 'emil', id: 'e' },
    { request: 13, told: 'acknowledged', kind: 'submit for a code', id: 'e' },
  ];
  const transactions = [
    { id: 'a', subject: 'anna', state: 'COMMITTED', version: 2, parent: null },
    { id: 'child', subject: 'anna', state: 'CREATED', version: 1, parent: 'a' },
    { id: 'b', subject: 'bert', state: 'CANCELLED', version: 2, parent: null },
    { id: 'c', subject: 'carla', state: 'COMMITTED', version: 2, parent: null },
    { id: 'd', subject: 'dora', state: 'COMMITTED', version: 3, parent: null },
    { id: 'e', subject: 'emil', state: 'SUBMITTED', version: 2, parent: null },
  ];
  const versions = transactions.flatMap(({ id, state, version }) =>
    (version === 3 ? ['CREATED', 'SUBMITTED', state] : ['CREATED', state])
      .slice(0, version)
      .map((each, index) => ({ transaction: id, version: index + 1, state: each })),
  );
  const answered = ['a', 'c', 'd'];
  const events = versions.map((each, at) => ({
    ...each,
    at,
    id: `${each.transaction}-${each.version}`,
    type: `io.accord.consent.${each.state.toLowerCase()}.v1`,
  }));
  return {
    history,
    stored: {
      transactions,
      versions,
      waiting: 0,
      records: [...answered, 'e'].flatMap((transaction) =>
        Object.entries(answers).map(([key, value]) => ({
          transaction,
          subject: 'anna',
          key,
          value: [value],
          state: transaction === 'e' ? 'PENDING' : 'COMMITTED',
        })),
      ),
      receipts: answered.map((transaction) => ({ transaction, answers })),
      events: [...events],
      messages: [
        { id: 'code', transaction: 'd', kind: 'code', state: 'SENT' },
        { id: 'note', transaction: 'd', kind: 'notification', state: 'SENT' },
        { id: 'late', transaction: 'e', kind: 'code', state: 'EXPIRED' },
      ],
      deadLetters: ['poison'],
    },
    carried: [...events] as CarriedEvent[],
    received: events.map((event) => ({ delivery: `call-${event.id}`, event, accepted: true })),
    mails: ['code', 'note', 'note'].map((message, index) => ({ message, isAcknowledged: index < 2 })),
    poison: ['poison'],
    misconduct: [] as string[],
  };
}

type Plant = (facts: ReturnType<typeof sound>) => void;

describe('the checker', () => {
  it('reports nothing for a sound run', () => {
    expect(findBreaches(sound())).toEqual([]);
  });

  it('accepts a second transaction that a delayed request created after the first one ended', () => {
    const facts = sound();
    const { stored } = facts;
    stored.transactions.push({ id: 'b2', subject: 'bert', state: 'CREATED', version: 1, parent: null });
    stored.versions.push({ transaction: 'b2', version: 1, state: 'CREATED' });
    const event = {
      id: 'b2-1',
      transaction: 'b2',
      version: 1,
      state: 'CREATED',
      at: 100,
      type: 'io.accord.consent.created.v1',
    };
    stored.events.push(event);
    facts.carried.push(event);
    facts.received.push({ delivery: 'another', event: { ...event }, accepted: true });
    expect(findBreaches(facts)).toEqual([]);
    event.at = 0;
    expect(findBreaches(facts)).toEqual(['I2: the transaction of bert is there twice']);
  });

  it.each<[string, Plant, string]>([
    [
      'a lost transaction',
      ({ stored }) => stored.transactions.splice(3, 1),
      'single step c was acknowledged and is lost',
    ],
    [
      'a withdrawal that no event tells',
      ({ stored }) => Object.assign(stored.records[0] as object, { withdraws: 'an earlier record' }),
      'there is no event a 2 COMMITTED io.accord.consent.withdrawn.v1',
    ],
    [
      'a lost record',
      ({ stored }) => stored.records.shift(),
      'a was answered {"processing.001":"accepted","processing.002":"refused"} and holds {"processing.002":"refused"}',
    ],
    ['all records lost', ({ stored }) => stored.records.splice(0, 2), 'a was answered'],
    [
      'another answer than the acknowledged one',
      ({ stored }) => Object.assign(stored.records[0] as object, { value: ['refused'] }),
      'a was answered',
    ],
    [
      'a doubled record',
      ({ stored }) => stored.records.push(stored.records[0] as Stored['records'][number]),
      'the record of processing.001 in a is there twice',
    ],
    ['a lost receipt', ({ stored }) => stored.receipts.shift(), 'a has no receipt'],
    [
      'a doubled receipt',
      ({ stored }) => stored.receipts.push(stored.receipts[0] as Stored['receipts'][number]),
      'the receipt of a is there twice',
    ],
    [
      'a receipt that tells something else',
      ({ stored }) => Object.assign(stored.receipts[0] as object, { answers: {} }),
      'the receipt of a tells {} and it holds',
    ],
    [
      'a receipt of what was cancelled',
      ({ stored }) => stored.receipts.push({ transaction: 'b', answers: {} }),
      'b is CANCELLED and has a receipt',
    ],
    [
      'a record of what was cancelled',
      ({ stored }) => Object.assign(stored.records[0] as object, { transaction: 'b' }),
      'b has a record of processing.001 and is CANCELLED',
    ],
    [
      'a record that is not in force',
      ({ stored }) => Object.assign(stored.records[0] as object, { state: 'PENDING' }),
      'a has a record of processing.001 and is COMMITTED',
    ],
    [
      'a state that was not acknowledged',
      ({ stored }) => Object.assign(stored.transactions[0] as object, { state: 'CREATED' }),
      'the answers of a were acknowledged and it is CREATED',
    ],
    [
      'a cancelled transaction that is open',
      ({ stored }) => Object.assign(stored.transactions[2] as object, { state: 'CREATED', version: 1 }),
      'b was cancelled and is CREATED',
    ],
    [
      'answers that nobody sent',
      ({ history }) => history.splice(2, 1),
      'a is COMMITTED and nobody answered it',
    ],
    [
      'a missing version of a history',
      ({ stored }) => stored.versions.shift(),
      'a is at version 2, and its history has 2',
    ],
    [
      'a history that goes on',
      ({ stored }) => stored.versions.push({ transaction: 'child', version: 2, state: 'COMMITTED' }),
      'child is at version 1, and its history has 1,2',
    ],
    [
      'a way that there is not',
      ({ stored }) => Object.assign(stored.versions[0] as object, { state: 'CANCELLED' }),
      'a went CANCELLED → COMMITTED',
    ],
    [
      'a history of another state',
      ({ stored }) => Object.assign(stored.versions[1] as object, { state: 'CANCELLED' }),
      'a is COMMITTED, and its history ends with CANCELLED',
    ],
    [
      'a missing event',
      ({ stored }) => stored.events.splice(1, 1),
      'a became COMMITTED (version 2) without an event',
    ],
    [
      'an event of another name',
      ({ stored }) =>
        Object.assign(stored.events[1] as object, { type: 'io.accord.consent.cancelled.v1', at: 9 }),
      'a became COMMITTED (version 2) without an event',
    ],
    [
      'events that were never sent',
      ({ stored }) => Object.assign(stored, { waiting: 3 }),
      '3 events and messages were never sent',
    ],
    [
      'two transactions of a context',
      ({ stored }) =>
        stored.transactions.push({ id: 'd', subject: 'anna', state: 'CREATED', version: 1, parent: null }),
      'the transaction of anna is there twice',
    ],
    [
      'two open children',
      ({ stored }) =>
        stored.transactions.push({ id: 'd', subject: 'anna', state: 'CREATED', version: 1, parent: 'a' }),
      'the open transaction of a is there twice',
    ],
    [
      'a child of another parent',
      ({ stored }) => Object.assign(stored.transactions[1] as object, { parent: 'c' }),
      'child is no child of a',
    ],
    [
      'a transaction of somebody else',
      ({ stored }) => Object.assign(stored.transactions[2] as object, { subject: 'eve' }),
      'b is of eve and was made for bert',
    ],
    [
      'an answer that nobody may be given',
      ({ history }) => history.push({ request: 8, told: 'wrong', why: '500', kind: 'cancel', id: 'a' }),
      'a cancel of a was answered 500',
    ],
    [
      'a refusal of what was taken',
      ({ history }) => history.push({ request: 8, told: 'refused', kind: 'submit', id: 'a', answers }),
      'a holds answers that were refused',
    ],
    [
      'a refusal of what is open',
      ({ history }) => history.push({ request: 8, told: 'refused', kind: 'submit', id: 'child', answers }),
      'answers of child were refused and it is CREATED',
    ],
    [
      'an event of what did not happen',
      ({ stored }) =>
        stored.events.push({
          id: 'x',
          transaction: 'child',
          version: 2,
          state: 'CANCELLED',
          type: 'io.accord.consent.cancelled.v1',
          at: 9,
        }),
      'an event tells child 2 CANCELLED',
    ],
    [
      'an event that was written twice',
      ({ stored }) => stored.events.push({ ...(stored.events[0] as Stored['events'][number]), id: 'x' }),
      'there are two events of a 1 CREATED',
    ],
    ['an event that no topic carried', ({ carried }) => carried.shift(), 'no topic carried its event a-1'],
    [
      'an event that was carried changed',
      ({ carried }) => carried.splice(0, 1, { ...(carried[0] as CarriedEvent), version: 7 }),
      'event a-1 was written a 1 CREATED',
    ],
    [
      'an event that no webhook got',
      ({ received }) => received.shift(),
      'the webhook never got its event a-1',
    ],
    [
      'a call that was never accepted',
      ({ received }) => Object.assign(received[0] as object, { accepted: false }),
      'the webhook never got its event a-1',
    ],
    [
      'an event in two deliveries',
      ({ received }) => received.push({ ...(received[0] as (typeof received)[number]), delivery: 'another' }),
      'the webhook got event a-1 in two deliveries',
    ],
    [
      'a call for nothing',
      ({ received }) =>
        received.push({
          delivery: 'y',
          accepted: true,
          event: { ...(received[0] as (typeof received)[number]).event, id: 'y' },
        }),
      'the webhook got event y, which was never written',
    ],
    [
      'poison that was swallowed',
      ({ poison }) => poison.push('another'),
      'the poison another is not in dead_letters',
    ],
    [
      'a guess that confirms',
      ({ history }) => history.push({ request: 20, told: 'wrong', why: '200', kind: 'guess', id: 'd' }),
      'a guess of d was answered 200',
    ],
    [
      'a confirmed transaction that is not in force',
      ({ stored }) => Object.assign(stored.transactions[4] as object, { state: 'SUBMITTED' }),
      'the answers of d were acknowledged and it is SUBMITTED',
    ],
    [
      'answers in force without their code',
      ({ stored }) => Object.assign(stored.transactions[5] as object, { state: 'COMMITTED' }),
      'e is COMMITTED and nobody answered it',
    ],
    [
      'a record in force without its code',
      ({ stored }) =>
        Object.assign(stored.records.find(({ transaction }) => transaction === 'e') as object, {
          state: 'COMMITTED',
        }),
      'e has a record of processing.001 and is SUBMITTED',
    ],
    [
      'a lost notification',
      ({ stored }) => stored.messages.splice(1, 1),
      'd is COMMITTED and has 0 notifications instead of 1',
    ],
    [
      'a message that was never sent',
      ({ stored }) => Object.assign(stored.messages[1] as object, { state: 'PENDING' }),
      'the notification note of d was never sent',
    ],
    [
      'a notification that was given up',
      ({ stored }) => Object.assign(stored.messages[1] as object, { state: 'FAILED' }),
      'the notification note of d is FAILED',
    ],
    [
      'a message that is said to be sent',
      ({ mails }) => mails.shift(),
      'the code code of d is SENT and never arrived',
    ],
    [
      'a mail that comes again and again',
      ({ mails }) => mails.push(...Array(2).fill(mails[0])),
      'the mail code was accepted more than twice',
    ],
    [
      'a mail of no message',
      ({ mails }) => mails.push({ message: 'x', isAcknowledged: true }),
      'the mail x arrived and no message has this id',
    ],
    [
      'a process that misbehaves',
      ({ misconduct }) => misconduct.push('it ended by itself'),
      'I9: it ended by itself',
    ],
    [
      'a request that was never asked again',
      ({ history }) => history.push({ request: 20, told: 'unknown', kind: 'cancel', id: 'a' }),
      'nobody knows what became of request 20, a cancel',
    ],
  ])('finds %s', (_what, plant, breach) => {
    const facts = sound();
    plant(facts);
    expect(findBreaches(facts).join('\n')).toContain(breach);
  });
});
