import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import {
  type AnswerFacts,
  type Attempt,
  afterAttempt,
  exclusionOf,
  grant,
  isWithinHours,
  judge,
  type MemberState,
  memberMoves,
  memberStates,
  needsOf,
  type PersonFacts,
  type Reason,
  reasons,
  type Wanted,
} from '../../services/transactions/campaigns/rules.ts';
import { type AnswerGroup, addUpValid } from '../../services/transactions/statistics/valid-answers.ts';

const dayMs = 86_400_000;
const now = new Date('2026-05-03T10:00:00Z');
const inDays = (days: number) => new Date(now.getTime() + days * dayMs);
const version = (major: number) => ({ major, serial: `${major}.0`, deleted: false });
const active: ActiveVersions = { a: version(2), b: version(1), info: version(1) };

const answer: fc.Arbitrary<AnswerFacts> = fc.record({
  object: fc.constantFrom('', 'card 7'),
  key: fc.constantFrom('a', 'b', 'c'),
  type: fc.constantFrom('processing', 'preference'),
  serial: fc.constantFrom('1.0', '2.0', '2.1'),
  infoKey: fc.constant('info'),
  infoSerial: fc.constantFrom('1.0', '2.0'),
  value: fc.constantFrom(['accepted'], ['refused'], []),
  positions: fc.constantFrom(null, [], [0]),
  expiresAt: fc.constantFrom(null, inDays(-1), inDays(10), inDays(100)),
});
const person: fc.Arbitrary<PersonFacts> = fc.record({
  answers: fc.uniqueArray(answer, { maxLength: 4, selector: ({ object, key }) => `${object} ${key}` }),
  isUnsubscribed: fc.boolean(),
  isHeld: fc.boolean(),
  hasAddress: fc.boolean(),
  isRecent: fc.boolean(),
});
const wanted: fc.Arbitrary<Wanted> = fc.record({
  keys: fc.constantFrom(['a'], ['b'], ['a', 'b']),
  who: fc.subarray([...reasons], { minLength: 1 }),
  object: fc.constantFrom(undefined, '', 'card 7'),
  active: fc.constant(active),
  now: fc.constant(now),
  until: fc.constant(inDays(30)),
});
const member = fc.record({
  state: fc.constantFrom<MemberState>('PICKED', 'SENT', 'UNSURE'),
  outcome: fc.constantFrom('OPEN' as const, 'COMMITTED' as const, 'ENDED' as const, null),
});

const facts = (changes: Partial<PersonFacts> = {}): PersonFacts => ({
  answers: [],
  isUnsubscribed: false,
  isHeld: false,
  hasAddress: true,
  isRecent: false,
  ...changes,
});
const given = (changes: Partial<AnswerFacts> = {}): AnswerFacts => ({
  object: '',
  key: 'a',
  type: 'processing',
  serial: '2.0',
  infoKey: 'info',
  infoSerial: '1.0',
  value: ['accepted'],
  positions: [0],
  expiresAt: inDays(100),
  ...changes,
});
const all: Wanted = { keys: ['a'], who: [...reasons], object: undefined, active, now, until: inDays(30) };

describe('whom a campaign finds', () => {
  it.each([
    ['a valid answer', given(), undefined],
    ['an answer to an earlier MAJOR', given({ serial: '1.3' }), 'CHANGED'],
    ['an answer under an earlier MAJOR of the information', given({ infoSerial: '0.9' }), 'CHANGED'],
    ['an answer that ends soon', given({ expiresAt: inDays(29) }), 'EXPIRING'],
    [
      'an answer that has ended, whatever has changed',
      given({ expiresAt: inDays(-1), serial: '1.0' }),
      'EXPIRED',
    ],
    ['an answer that never ends', given({ expiresAt: null }), undefined],
    [
      'a question that was left without an answer',
      given({ value: [], positions: null, serial: '1.0' }),
      undefined,
    ],
    ['a refusal of an earlier MAJOR', given({ value: ['refused'], serial: '1.0' }), 'CHANGED'],
  ])('%s', (_, one, reason) => {
    expect(needsOf(facts({ answers: [one] }), all).map((need) => need.reason)).toEqual(
      reason ? [reason] : [],
    );
  });

  it('no answer is NEVER; an answer about another object is none', () => {
    const answers = [given({ object: 'card 7' })];
    expect(needsOf(facts(), all)).toEqual([{ object: '', key: 'a', reason: 'NEVER' }]);
    expect(needsOf(facts({ answers }), all)).toEqual([]);
    expect(needsOf(facts({ answers }), { ...all, object: 'card 8' })).toMatchObject([{ reason: 'NEVER' }]);
  });

  it('only for the reasons and about the elements and objects that were named, the most urgent first', () =>
    fc.assert(
      fc.property(person, wanted, (someone, what) => {
        const needs = needsOf(someone, what);
        const ranks = needs.map(({ reason }) => reasons.indexOf(reason));
        expect(ranks).toEqual([...ranks].sort());
        for (const { key, object, reason } of needs) {
          expect(what.keys).toContain(key);
          expect(what.who).toContain(reason);
          if (what.object !== undefined) expect(object).toBe(what.object);
        }
        // Every question is asked for one reason.
        expect(new Set(needs.map(({ key, object }) => `${key} ${object}`)).size).toBe(needs.length);
      }),
    ));
});

describe('whom a campaign finds after a MAJOR', () => {
  // A question without an answer is never in force.
  const before: ActiveVersions = { ...active, a: version(1) };
  const standing = answer
    .filter(({ value }) => value.length > 0)
    .map((one) => ({ ...one, serial: '1.0', infoSerial: '1.0' }));
  const standingOf = fc.uniqueArray(standing, {
    maxLength: 4,
    selector: ({ object, key }) => `${object} ${key}`,
  });
  const what: Wanted = { ...all, who: ['CHANGED'] };

  it('has as many answers as its activation has counted', () =>
    fc.assert(
      fc.property(fc.array(standingOf, { maxLength: 6 }), (everybody) => {
        const groups = everybody.flat().flatMap(({ expiresAt, value, ...rest }): AnswerGroup[] => {
          if (expiresAt && expiresAt <= now) return [];
          return [{ ...rest, answer: value[0] ?? null, expiring: false, count: 1 }];
        });
        const counted = addUpValid(groups, before, now).find(({ key }) => key === 'a');
        const found = everybody.map((answers) => needsOf(facts({ answers }), what));
        expect(found.flat()).toHaveLength(counted?.subjects ?? 0);
      }),
    ));
});

describe('whom a campaign asks', () => {
  it('nobody who refused one of the elements, unsubscribed, is held, has no address or was written to lately', () =>
    fc.assert(
      fc.property(person, wanted, member, (someone, what, { state, outcome }) => {
        if (judge({ state, outcome }, someone, what) !== 'SEND') return;
        expect(exclusionOf(someone, what.keys)).toBeUndefined();
        expect(
          someone.answers.filter(
            ({ key, value, type }) =>
              what.keys.includes(key) && type !== 'preference' && value[0] === 'refused',
          ),
        ).toEqual([]);
        expect([someone.isUnsubscribed, someone.isHeld, !someone.hasAddress, someone.isRecent]).not.toContain(
          true,
        );
        expect(outcome === 'OPEN' || outcome === null).toBe(true);
      }),
    ));

  it('nobody whose answers are all valid, and every verdict is a move that the state allows', () =>
    fc.assert(
      fc.property(person, wanted, member, (someone, what, { state, outcome }) => {
        const verdict = judge({ state, outcome: state === 'PICKED' ? null : outcome }, someone, what);
        if (typeof verdict === 'object') expect(memberMoves[state]).toContain(verdict.state);
        const everything = { ...what, who: [...reasons] };
        if (needsOf(someone, everything).length === 0) expect(verdict).not.toBe('SEND');
      }),
    ));

  it('a person who was picked because the answer ends soon is still asked after it has ended', () => {
    const answers = [given({ expiresAt: inDays(-1) })];
    const what = { ...all, who: ['EXPIRING'] satisfies Reason[] };
    expect(judge({ state: 'SENT', outcome: 'OPEN' }, facts({ answers }), what)).toBe('SEND');
  });

  it('who refuses after being asked has answered; who refuses before is skipped', () => {
    const refused = facts({ answers: [given({ value: ['refused'] })] });
    expect(judge({ state: 'SENT', outcome: 'OPEN' }, refused, all)).toEqual({ state: 'ANSWERED' });
    expect(judge({ state: 'PICKED', outcome: null }, refused, all)).toEqual({
      state: 'SKIPPED',
      why: 'REFUSED',
    });
  });
});

describe('the states of a person in a campaign', () => {
  const attempts = ['sent', 'unsent', 'refused', 'unsure'] satisfies Attempt[];

  it('only what was certainly not accepted leads back to a state from which a message is sent', () => {
    const sends = memberStates.filter((state) => memberMoves[state as MemberState].includes('SENDING'));
    expect(sends).toEqual(['PICKED', 'SENT']);
    for (const attempt of attempts)
      for (const step of [0, 1, 2])
        for (const mayRetry of [true, false]) {
          const state = afterAttempt(attempt, step, mayRetry);
          expect(memberMoves.SENDING).toContain(state);
          if (attempt === 'unsure' || attempt === 'refused') expect(sends).not.toContain(state);
          if (state === 'PICKED') expect([attempt, step]).toEqual(['unsent', 0]);
        }
  });

  it('UNSURE never leads to another message', () => {
    const reachable = new Set<MemberState>();
    const walk = (state: MemberState) => {
      for (const next of memberMoves[state]) if (next !== 'SENT' && !reachable.has(next)) walk(next);
      reachable.add(state);
    };
    walk('UNSURE');
    expect([...reachable]).not.toContain('SENDING');
  });
});

describe('the pace', () => {
  it('never exceeds so many messages a minute by more than two seconds’ worth, however it is asked', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30_000 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 50 })), {
          maxLength: 60,
        }),
        (perMinute, asked) => {
          let [usedUntil, time, sent] = [now, now.getTime(), 0];
          for (const [waitMs, count] of asked) {
            time += waitMs;
            const granted = grant({ perMinute, usedUntil, now: new Date(time) }, count);
            expect(granted.count).toBeLessThanOrEqual(count);
            usedUntil = granted.usedUntil;
            sent += granted.count;
            const allowed = ((time - now.getTime() + 2_000) * perMinute) / 60_000;
            expect(sent).toBeLessThanOrEqual(Math.ceil(allowed) + 1);
          }
        },
      ),
    ));

  it('allows the next message as soon as its time has come', () => {
    const first = grant({ perMinute: 60, usedUntil: inDays(-1), now }, 10);
    expect(first.count).toBe(2);
    expect(grant({ perMinute: 60, usedUntil: first.usedUntil, now }, 10).count).toBe(0);
    const later = new Date(now.getTime() + 1_000);
    expect(grant({ perMinute: 60, usedUntil: first.usedUntil, now: later }, 10).count).toBe(1);
  });
});

describe('the hours', () => {
  it.each([
    ['07:59', false],
    ['08:00', true],
    ['19:59', true],
    ['20:00', false],
  ])('%s in the time zone of the instance', (time, isSent) => {
    const at = new Date(`2026-05-03T${time}:00+02:00`);
    expect(isWithinHours({ from: '08:00', to: '20:00' }, at, 'Europe/Paris')).toBe(isSent);
    expect(isWithinHours({ from: '20:00', to: '08:00' }, at, 'Europe/Paris')).toBe(!isSent);
    expect(isWithinHours(null, at, 'Europe/Paris')).toBe(true);
  });
});
