import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Effect,
  effectOf,
  type Incoming,
  isEndedByOrder,
  isRefusedHere,
  type Question,
  type Source,
  type Statement,
} from '../../services/transactions/standing/in-force.ts';

/** A person, as the database keeps it: statements about one question, and their positions. */
function createPerson() {
  const statements: (Statement & { from: number | null; until: number | null })[] = [];
  const orders = new Map<string, Date>();
  let position = 0;
  const question = (source: Source): Question => ({
    statements: statements.map((each) => ({ ...each, isInForce: each.from !== null && each.until === null })),
    orderedAt: (source === null ? undefined : orders.get(source)) ?? null,
  });
  return {
    statements,
    orders,
    /** Takes the next position. */
    next: () => ++position,
    refusesHere: (incoming: Incoming) => isRefusedHere(incoming, question(null)),
    current: () => statements.find(({ from, until }) => from !== null && until === null),
    commit(incoming: Incoming, at: Date, isOrdered = false): Effect {
      const effect = effectOf(incoming, question(incoming.source));
      position += 1;
      const ended = effect.ends && statements.find(({ id }) => id === effect.ends?.id);
      if (ended) ended.until = position;
      statements.push({
        id: String(position),
        source: incoming.source,
        givenAt: incoming.givenAt,
        committedAt: at,
        position,
        choice: incoming.choice,
        endedConsent: effect.withdraws || isOrdered,
        isOrdered,
        isImported: incoming.isImported ?? false,
        isInForce: effect.isInForce,
        from: effect.isInForce ? position : null,
        until: null,
      });
      return effect;
    },
  };
}

const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const hospital = 'https://hospital.example';
const theatre = 'https://theatre.example';

/** What a person does, by the clock of where it is done. */
type Act =
  | { does: 'answer'; choice: 'accepted' | 'refused'; isNotice: boolean }
  /** Submitted now, confirmed later. */
  | { does: 'wait'; choice: 'accepted' | 'refused'; confirmedAfter: number }
  | { does: 'withdraw' }
  /** A part: given `delay` seconds before it arrives, by a clock that is `skew` seconds ahead. */
  | {
      does: 'part';
      source: string;
      choice: 'accepted' | 'refused';
      isNotice: boolean;
      delay: number;
      held: number;
    }
  | { does: 'order'; source: string; delay: number }
  /** Taken over from another system, where it was given `delay` seconds before. */
  | { does: 'import'; choice: 'accepted' | 'refused'; delay: number }
  | { does: 'erase' };

const choice = fc.constantFrom('accepted' as const, 'accepted' as const, 'refused' as const);
const source = fc.constantFrom(hospital, theatre);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('answer' as const), choice, isNotice: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('wait' as const), choice, confirmedAfter: fc.nat({ max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('withdraw' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('part' as const),
      source,
      choice,
      isNotice: fc.boolean(),
      delay: fc.nat({ max: 60 }),
      held: fc.nat({ max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('order' as const), source, delay: fc.nat({ max: 60 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('import' as const), choice, delay: fc.nat({ max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('erase' as const) }) },
);

/** An answer that is taken over from another system. */
const takenOver = (chosen: 'accepted' | 'refused', givenAt: Date, receivedAt: Date) => ({
  source: null,
  givenAt,
  receivedAt,
  waitingSince: null,
  choice: chosen,
  isNotice: false,
  isImported: true,
});

interface Waiting {
  incoming: Incoming;
  due: number;
}

/** Carries a history out, one act every ten seconds, and checks after each act what must always hold. */
function live(acts: readonly Act[], skews: Record<string, number>, check: (step: Step) => void): void {
  const person = createPerson();
  const waiting: Waiting[] = [];
  const confirmDue = (step: number) => {
    for (const one of waiting.filter(({ due }) => due === step)) {
      const before = person.current();
      const effect = person.commit(one.incoming, time(step * 10 + 5));
      check({ act: { does: 'confirm' }, incoming: one.incoming, effect, before, person });
    }
  };
  const refuse = (at: Date, from: Source, givenAt: Date, isOrdered: boolean) => {
    const before = person.current();
    const incoming = {
      source: from,
      givenAt,
      receivedAt: at,
      waitingSince: null,
      choice: 'refused' as const,
      isNotice: false,
    };
    person.commit(incoming, at, isOrdered);
    return before;
  };
  acts.forEach((one, step) => {
    const at = time(step * 10);
    const before = person.current();
    if (one.does === 'answer' || one.does === 'wait' || one.does === 'part') {
      const from = one.does === 'part' ? one.source : null;
      const givenAt = one.does === 'part' ? time(step * 10 - one.delay + (skews[one.source] ?? 0)) : at;
      const wait = one.does === 'wait' ? one.confirmedAfter + 1 : one.does === 'part' ? one.held : 0;
      const waitingSince = wait > 0 ? person.next() : null;
      const isNotice = one.does !== 'wait' && one.isNotice && one.choice === 'accepted';
      const incoming = { source: from, givenAt, receivedAt: at, waitingSince, choice: one.choice, isNotice };
      if (wait > 0) waiting.push({ incoming, due: step + wait });
      else check({ act: one, incoming, effect: person.commit(incoming, at), before, person });
    } else if (one.does === 'withdraw') {
      const waits = waiting.some(({ due, incoming }) => due > step && incoming.choice === 'accepted');
      if (before?.choice === 'accepted' || waits) refuse(at, null, at, waits);
    } else if (one.does === 'order') {
      const withdrawnAt = time(step * 10 - one.delay + (skews[one.source] ?? 0));
      const known = person.orders.get(one.source);
      if (!known || known < withdrawnAt) person.orders.set(one.source, withdrawnAt);
      const isOfPart = false;
      const order = { leader: one.source, withdrawnAt };
      if (before?.choice === 'accepted' && isEndedByOrder({ ...before, isOfPart, isNotice: false }, order))
        refuse(at, one.source, withdrawnAt, true);
    } else if (one.does === 'import') {
      const incoming = takenOver(one.choice, time(step * 10 - one.delay), at);
      if (!person.refusesHere(incoming))
        check({ act: one, incoming, effect: person.commit(incoming, incoming.givenAt), before, person });
    } else person.statements.splice(0, 1);
    confirmDue(step);
  });
}

interface Step {
  act: Act | { does: 'confirm' };
  incoming: Incoming;
  effect: Effect;
  before: ReturnType<ReturnType<typeof createPerson>['current']>;
  person: ReturnType<typeof createPerson>;
}

const runs = { numRuns: 10_000, seed: 40 };
const histories = fc.tuple(
  fc.array(act, { minLength: 1, maxLength: 14 }),
  fc.record({ [hospital]: fc.integer({ min: -30, max: 30 }), [theatre]: fc.integer({ min: -30, max: 30 }) }),
);

/** What must hold after each act. @returns whether it does. */
const promises: Record<string, (step: Step) => boolean> = {
  'at most one answer is in force, and what replaces it begins where it ends': ({
    effect,
    before,
    person,
  }) => {
    const inForce = person.statements.filter(({ from, until }) => from !== null && until === null);
    if (!effect.isInForce) return inForce.length <= 1 && person.current()?.id === before?.id;
    return inForce.length === 1 && effect.ends?.id === before?.id;
  },
  'no answer that was given here is in force after a refusal that ended it while it waited': ({
    incoming: { source: from, givenAt, choice: chosen, waitingSince },
    effect,
    person,
  }) => {
    if (!effect.isInForce || chosen !== 'accepted' || from !== null || waitingSince === null) return true;
    return !person.statements
      .slice(0, -1)
      .some((each) =>
        each.isImported
          ? each.choice === 'refused' && each.from !== null && each.until === null && each.givenAt > givenAt
          : each.position > waitingSince && each.endedConsent && !each.isOrdered,
      );
  },
  'no answer of a peer is in force after a later one of this peer, or its later order': ({
    incoming: { source: from, givenAt, choice: chosen },
    effect,
    person,
  }) => {
    if (!effect.isInForce || from === null) return true;
    const isOrdered = chosen === 'accepted' && (person.orders.get(from) ?? time(-1e6)) > givenAt;
    return !isOrdered && !person.statements.some((each) => each.source === from && each.givenAt > givenAt);
  },
  'a part does not undo a refusal that was stored elsewhere after the part was given': ({
    incoming: { source: from, givenAt, receivedAt },
    effect,
    before,
  }) => {
    if (from === null || before?.choice !== 'refused' || before.source === from) return true;
    return !effect.isInForce || before.committedAt < givenAt || before.committedAt < receivedAt;
  },
  'what is taken over is in force only if nothing newer was said': ({ incoming, effect, person }) => {
    if (!incoming.isImported || !effect.isInForce) return true;
    return person.statements.slice(0, -1).every(({ committedAt, isImported }) => {
      return isImported ? committedAt <= incoming.givenAt : committedAt < incoming.givenAt;
    });
  },
  'a consent that is taken over never ends a refusal that was collected here': ({
    incoming,
    effect,
    before,
  }) =>
    !(
      incoming.isImported &&
      incoming.choice === 'accepted' &&
      effect.isInForce &&
      before?.choice === 'refused' &&
      !before.isImported
    ),
  'what is sent here now is in force, whatever was taken over': ({ act: done, effect }) =>
    done.does !== 'answer' || done.isNotice || effect.isInForce,
  'an answer that waited is not in force after a later refusal that was taken over': ({
    act: done,
    incoming,
    effect,
    before,
  }) => {
    if (done.does !== 'confirm' || incoming.source !== null || !before?.isImported) return true;
    return !effect.isInForce || before.choice !== 'refused' || before.givenAt <= incoming.givenAt;
  },
  'a notice never ends a refusal': ({ incoming, effect, before }) =>
    !(incoming.isNotice && before?.choice === 'refused' && effect.isInForce),
  'a refusal names the consent that it ended': ({ incoming, effect, before }) => {
    const ends = effect.isInForce && incoming.choice === 'refused' && before?.choice === 'accepted';
    return effect.withdraws === ends;
  },
};

describe('whatever a person says, at whatever forms, in whatever order it arrives', () => {
  const broken = new Map<string, Act[]>();
  let lived = 0;
  beforeAll(() => {
    for (const [acts, skews] of fc.sample(histories, runs)) {
      lived += 1;
      live(acts, skews, (step) => {
        for (const [promise, holds] of Object.entries(promises))
          if (!holds(step) && !broken.has(promise)) broken.set(promise, acts);
      });
    }
  });

  it('10,000 histories were lived', () => expect(lived).toBe(10_000));

  it.each(Object.keys(promises))('%s', (promise) => expect(broken.get(promise)).toBeUndefined());
});

describe('answers at the forms of one peer', () => {
  it('end alike in whatever order they arrive', () => {
    const given = fc.uniqueArray(fc.record({ at: fc.nat({ max: 1000 }), choice }), {
      selector: ({ at }) => at,
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(given, fc.infiniteStream(fc.nat()), (answers, order) => {
        const arrival = answers
          .map((answer) => ({ answer, key: order.next().value as number }))
          .sort((one, other) => one.key - other.key);
        const person = createPerson();
        arrival.forEach(({ answer }, place) => {
          const receivedAt = time(2000 + place);
          const incoming = { source: hospital, givenAt: time(answer.at), receivedAt, waitingSince: null };
          person.commit({ ...incoming, choice: answer.choice, isNotice: false }, receivedAt);
        });
        const newest = answers.toSorted((one, other) => other.at - one.at)[0];
        expect(person.current()?.choice).toBe(newest?.choice);
      }),
      runs,
    );
  });
});

describe('answers that are taken over', () => {
  it('end alike in whatever order they arrive, also if they were given at the same time', () => {
    const given = fc.array(fc.record({ at: fc.nat({ max: 5 }), choice }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(given, fc.infiniteStream(fc.nat()), (answers, order) => {
        const arrival = answers
          .map((answer) => ({ answer, key: order.next().value as number }))
          .sort((one, other) => one.key - other.key);
        const person = createPerson();
        for (const { answer } of arrival)
          person.commit(takenOver(answer.choice, time(answer.at), time(100)), time(answer.at));
        const last = Math.max(...answers.map(({ at }) => at));
        const isRefused = answers.some((answer) => answer.at === last && answer.choice === 'refused');
        expect(person.current()?.choice).toBe(isRefused ? 'refused' : 'accepted');
      }),
      runs,
    );
  });
});

describe('an answer that a person clears', () => {
  it('ends what is in force, leaves nothing in force, and can be given again', () => {
    const answers = fc.array(fc.constantFrom('chosen' as const, 'none' as const), { minLength: 1 });
    fc.assert(
      fc.property(answers, (given) => {
        const person = createPerson();
        given.forEach((each, step) => {
          const at = time(step);
          const before = person.current();
          const here = { source: null, givenAt: at, receivedAt: at, waitingSince: null, isNotice: false };
          const effect = person.commit({ ...here, choice: each }, at);
          expect(effect.ends?.id).toBe(before?.id);
          expect(effect).toMatchObject({ withdraws: false, withdrawnAt: null });
          expect(person.current()?.choice).toBe(each === 'none' ? undefined : 'chosen');
        });
      }),
    );
  });
});

describe('the table of docs/withdrawal.md', () => {
  const document = readFileSync(new URL('../../docs/withdrawal.md', import.meta.url), 'utf8');
  const rows = document
    .slice(document.indexOf('| Stored before |'))
    .split('\n\n')[0]
    ?.split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ) as string[][];

  const own = {
    source: null,
    choice: 'accepted',
    endedConsent: false,
    isOrdered: false,
    isImported: false,
  } as const;
  /** Stored statements by the words of the first column; each was stored at 100 s, and given then. */
  const stored: Record<
    string,
    Pick<Statement, 'source' | 'choice' | 'endedConsent' | 'isOrdered' | 'isImported'>
  > = {
    'a consent given here': own,
    'a refusal given here that ended no consent': { ...own, choice: 'refused' },
    'a refusal or withdrawal given here that ended a consent': {
      ...own,
      choice: 'refused',
      endedConsent: true,
    },
    'a consent given at the same peer': { ...own, source: hospital },
    'a refusal given at the same peer': { ...own, source: hospital, choice: 'refused' },
    'a refusal given at another peer that ended a consent': {
      ...own,
      source: theatre,
      choice: 'refused',
      endedConsent: true,
    },
    'a withdrawal ordered by another peer': {
      ...own,
      source: theatre,
      choice: 'refused',
      endedConsent: true,
      isOrdered: true,
    },
    'a consent taken over': { ...own, isImported: true },
    'a refusal taken over': { ...own, choice: 'refused', endedConsent: true, isImported: true },
  };
  const incoming = { choice: 'accepted', isNotice: false } as const;
  const here = { ...incoming, source: null, givenAt: time(200), receivedAt: time(200), waitingSince: null };
  const waited = { ...here, givenAt: time(50), receivedAt: time(50), waitingSince: 5 };
  const part = { ...incoming, source: hospital, receivedAt: time(200), waitingSince: null };
  /** Consents by the words of the head. */
  const arriving: Record<string, Incoming> = {
    'sent here now': here,
    'given here before, confirmed now': waited,
    'given at the peer before, arrives now': { ...part, givenAt: time(50) },
    'given at the peer after': { ...part, givenAt: time(150) },
    'taken over, given before': takenOver('accepted', time(50), time(200)),
    'taken over, given after': takenOver('accepted', time(150), time(200)),
  };
  const heads = Object.keys(arriving);

  it('has all rows', () => expect(rows.map(([first]) => first)).toEqual(Object.keys(stored)));

  it.each(Object.keys(stored).flatMap((row) => heads.map((head) => [row, head] as const)))(
    'says what the rule does: %s, and a consent %s',
    (row, head) => {
      const cell = rows.find(([first]) => first === row)?.[1 + heads.indexOf(head)];
      const statement: Statement = {
        ...(stored[row] as (typeof stored)['x']),
        id: 'stored',
        givenAt: time(100),
        committedAt: time(100),
        position: 10,
        isInForce: true,
      };
      const question = { statements: [statement], orderedAt: null };
      const effect = effectOf(arriving[head] as Incoming, question);
      const isTaken = !isRefusedHere(arriving[head] as Incoming, question);
      const found = effect.isInForce ? 'the new one' : 'the stored one';
      expect(isTaken ? found : 'not taken over').toBe(cell);
    },
  );
});
