import { describe, expect, it } from 'vitest';
import type { PeerLine } from './federated-client.ts';
import { findPeerBreaches } from './find-peer-breaches.ts';

const record = (transaction: string, key: string, value: string) => ({
  transaction,
  key,
  value: [value],
  state: 'COMMITTED',
});

/**
 * What people were told, and what both instances hold, when all is well: one answer in force, one that was
 * taken back.
 */
function sound() {
  const history: PeerLine[] = [
    { request: 1, told: 'acknowledged', kind: 'create', subject: 'anna', mode: 'together', id: 'a' },
    { request: 2, told: 'unknown', kind: 'submit', id: 'a', given: { own: 'accepted', theirs: 'x' } },
    { request: 2, told: 'acknowledged', kind: 'submit', id: 'a', given: { own: 'accepted', theirs: 'x' } },
    { request: 3, told: 'acknowledged', kind: 'create', subject: 'bert', mode: 'together', id: 'b' },
    { request: 4, told: 'acknowledged', kind: 'submit', id: 'b', given: { own: 'refused', theirs: 'y' } },
    { request: 5, told: 'unknown', kind: 'cancel', id: 'b' },
    { request: 5, told: 'refused', kind: 'cancel', id: 'b' },
  ];
  const part = { reason: null, remoteId: null, sealed: false };
  return {
    history,
    keys: { own: 'own', theirs: 'theirs' },
    misconduct: [] as string[],
    leader: {
      transactions: [
        { id: 'a', subject: 'anna', state: 'COMMITTED' },
        { id: 'b', subject: 'bert', state: 'CANCELLED' },
      ],
      records: [record('a', 'own', 'accepted'), { ...record('b', 'own', 'refused'), state: 'ROLLED_BACK' }],
      receipts: ['a'],
      parts: [
        { ...part, sid: 'one', transaction: 'a', state: 'ACCEPTED', remoteId: 'A' as string | null },
        { ...part, sid: 'two', transaction: 'b', state: 'DROPPED' },
      ],
      messages: [] as { id: string; transaction: string; kind: string; state: string }[],
      marked: [] as string[],
    },
    mails: [] as { message: string; isAcknowledged: boolean }[],
    owner: {
      submissions: [
        { sid: 'one', verdict: 'committed', transaction: 'A' as string | null },
        { sid: 'two', verdict: 'rolledback', transaction: 'B' as string | null },
      ],
      transactions: [
        { id: 'A', subject: 'anna', state: 'COMMITTED', leader: 'a' as string | null },
        { id: 'B', subject: 'bert', state: 'ROLLBACK', leader: 'b' as string | null },
      ],
      records: [record('A', 'theirs', 'x'), { ...record('B', 'theirs', 'y'), state: 'ROLLED_BACK' }],
      receipts: ['A'],
    },
  };
}

type Facts = ReturnType<typeof sound>;
const forgotten = {
  transactions: [] as { id: string; from: string | null; to: string }[],
  parts: [] as string[],
  submissions: [] as string[],
};
const first = (list: object[], changes: object) => Object.assign(list[0] as object, changes);
const second = (list: object[], changes: object) => Object.assign(list[1] as object, changes);

describe('the checker of two instances', () => {
  it('reports nothing for a sound run', () => {
    expect(findPeerBreaches(sound())).toEqual([]);
  });

  it.each<[string, (facts: Facts) => void, string]>([
    [
      'a lost record of the leader',
      ({ leader }) => leader.records.shift(),
      'I1: a was answered accepted and holds nothing',
    ],
    [
      'a lost record of the owner',
      ({ owner }) => owner.records.shift(),
      'I1: the part one was answered x and its owner holds nothing',
    ],
    [
      'another answer at the owner',
      ({ owner }) => first(owner.records, { value: ['z'] }),
      'its owner holds theirs z COMMITTED',
    ],
    [
      'another subject at the owner',
      ({ owner }) => first(owner.transactions, { subject: 'eve' }),
      'I1: the part one is of anna and at its owner of eve',
    ],
    [
      'a part that its owner never got',
      ({ owner }) => owner.submissions.shift(),
      'I1: the part one is ACCEPTED and at its owner missing',
    ],
    [
      'a part that stays open',
      ({ leader }) => first(leader.parts, { state: 'SENDING' }),
      'I1: the part one of a stays SENDING',
    ],
    [
      'a part that nobody refused',
      ({ leader }) => first(leader.parts, { state: 'REFUSED', reason: 'seal' }),
      'I1: the part one of a is REFUSED (seal)',
    ],
    [
      'an answer that was acknowledged and rolled back',
      ({ leader }) => first(leader.transactions, { state: 'ROLLBACK' }),
      'I1: the answers of a were acknowledged and it is ROLLBACK',
    ],
    [
      'a request that nobody knows of',
      ({ history }) => history.splice(6, 1),
      'I1: nobody knows what became of request 5, a cancel',
    ],
    [
      'a wrong answer',
      ({ history }) => history.push({ request: 9, told: 'wrong', why: '500', kind: 'cancel', id: 'b' }),
      'I1: a cancel of b was answered 500',
    ],
    [
      'a notification that was never written',
      ({ history }) => first(history, { isNotified: true }),
      'I7: a is COMMITTED and has 0 notifications instead of 1',
    ],
    [
      'a code that was never sent',
      ({ leader }) => leader.messages.push({ id: 'm', transaction: 'a', kind: 'code', state: 'PENDING' }),
      'I7: the code m of a was never sent',
    ],
    [
      'a mail that arrived again and again',
      ({ leader, mails }) => {
        leader.messages.push({ id: 'm', transaction: 'a', kind: 'code', state: 'SENT' });
        mails.push(...Array.from({ length: 3 }, () => ({ message: 'm', isAcknowledged: true })));
      },
      'I7: the mail m was accepted more than twice',
    ],
    [
      'a part that nobody confirmed at its owner',
      ({ history }) => {
        first(history, { isNotified: false });
        history.splice(1, 2, { request: 2, told: 'acknowledged', kind: 'submit for a code', id: 'a' });
      },
      'I8: the part one of a reached its owner without a code',
    ],
    [
      'two transactions for a part',
      ({ owner }) => owner.transactions.push({ id: 'C', subject: 'carl', state: 'COMMITTED', leader: 'a' }),
      'I2: the part of a is there twice at the owner',
    ],
    [
      'two records for an answer',
      ({ owner }) => owner.records.push(record('A', 'theirs', 'x')),
      'I2: the record of theirs in A is there twice at the owner',
    ],
    [
      'a part that nobody sent',
      ({ owner }) => owner.submissions.push({ sid: 'three', verdict: 'rolledback', transaction: null }),
      'I2: nobody sent the part three',
    ],
    [
      'answers to the owner at the leader',
      ({ leader }) => leader.marked.push('the table t'),
      'I3: an answer to the owner can be read in the table t',
    ],
    [
      'sealed answers that were taken back',
      ({ leader }) => second(leader.parts, { sealed: true }),
      'I3: the part two is DROPPED and its sealed answers are kept',
    ],
    [
      'in force there and not here',
      ({ owner }) => second(owner.records, { state: 'COMMITTED' }),
      'I8: b is CANCELLED and its owner has the part two in force',
    ],
    [
      'in force here and not there',
      ({ owner }) => first(owner.transactions, { state: 'SUBMITTED' }),
      'I8: a is COMMITTED and not in force at its owner',
    ],
    [
      'a part that is held for ever',
      ({ owner }) => second(owner.submissions, { verdict: 'held' }),
      'I8: b is CANCELLED and its owner still holds the part two',
    ],
    ['a process that misbehaves', ({ misconduct }) => misconduct.push('it ended'), 'I9: it ended'],
    [
      'a part that is held for ever, whose leader has forgotten it',
      ({ owner }) => owner.submissions.push({ sid: 'three', verdict: 'held', transaction: null }),
      'I8: the owner still holds the part three',
    ],
  ])('finds %s', (_what, plant, breach) => {
    const facts = sound();
    plant(facts);
    expect(findPeerBreaches(facts).join('\n')).toContain(breach);
  });

  it('excuses what an owner has forgotten in a restoration, and nothing else', () => {
    const facts = sound();
    for (const list of [
      facts.owner.submissions,
      facts.owner.transactions,
      facts.owner.records,
      facts.owner.receipts,
    ])
      list.shift();
    const restored = { leader: [], owner: [{ ...forgotten, submissions: ['one'] }] };
    expect(findPeerBreaches({ ...facts, forgotten: restored })).toEqual([]);
    const other = { leader: [], owner: [{ ...forgotten, submissions: ['two'] }] };
    expect(findPeerBreaches({ ...facts, forgotten: other }).join('\n')).toContain('I1: the part one');
  });

  it('knows answers that a code has put in force, and parts that are withdrawn because nobody entered it', () => {
    const facts = sound();
    const [made, submitted, again] = facts.history;
    const given = { own: 'accepted', theirs: 'x' };
    facts.history.splice(
      0,
      3,
      { ...(made as PeerLine), isNotified: true } as PeerLine,
      { ...(submitted as PeerLine), kind: 'submit for a code', id: 'a' } as PeerLine,
      { ...(again as PeerLine), kind: 'submit for a code', id: 'a' } as PeerLine,
      { request: 8, told: 'acknowledged', kind: 'confirm', id: 'a', given },
      { request: 9, told: 'acknowledged', kind: 'create', subject: 'cora', mode: 'independent', id: 'c' },
      { request: 10, told: 'acknowledged', kind: 'submit for a code', id: 'c' },
    );
    facts.leader.messages.push({ id: 'm', transaction: 'a', kind: 'notification', state: 'SENT' });
    facts.mails.push({ message: 'm', isAcknowledged: true });
    facts.leader.transactions.push({ id: 'c', subject: 'cora', state: 'TIMEOUT' });
    const part = { reason: null, remoteId: null, sealed: false };
    facts.leader.parts.push({ ...part, sid: 'three', transaction: 'c', state: 'DROPPED' });
    expect(findPeerBreaches(facts)).toEqual([]);
    expect(findPeerBreaches({ ...facts, mails: [] })).toEqual([
      'I7: the notification m of a is SENT and never arrived',
    ]);
  });

  it('excuses what a leader has forgotten, but not what waited for its owner in the backup', () => {
    const facts = sound();
    facts.leader.transactions.shift();
    facts.leader.records.shift();
    facts.leader.parts.shift();
    const lost = (from: string | null) => ({
      leader: [{ ...forgotten, transactions: [{ id: 'a', from, to: 'COMMITTED' }], parts: ['one'] }],
      owner: [],
    });
    expect(findPeerBreaches({ ...facts, forgotten: lost(null) })).toEqual([]);
    expect(findPeerBreaches({ ...facts, forgotten: lost('SUBMITTED') }).join('\n')).toContain(
      'I1: submit of a was acknowledged and is lost',
    );
  });
});
