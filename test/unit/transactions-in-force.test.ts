import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { decideElement } from '../../services/transactions/decisions/decision.ts';
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

/** A statement as the database keeps it: with the positions from which and until which it is in force. */
interface Stored extends Statement {
  from: number | null;
  until: number | null;
  isNotice: boolean;
  /** The part that brought it. */
  part: number | null;
  expiresAt: Date | null;
}

/** What a statement is stored with, beside what the rule decides by. */
interface Kept {
  isOrdered?: boolean;
  endedConsent?: boolean;
  part?: number | null;
  expiresAt?: Date | null;
}

/** A person, as the database keeps it: statements about one question, and their positions. */
function createPerson() {
  const statements: Stored[] = [];
  const orders = new Map<string, Date>();
  let position = 0;
  const question = (source: Source): Question => ({
    statements: statements.map((each) => ({ ...each, isInForce: each.from !== null && each.until === null })),
    orderedAt: (source === null ? undefined : orders.get(source)) ?? null,
  });
  return {
    statements,
    orders,
    question,
    /** Takes the next position. */
    next: () => ++position,
    inForce: () => statements.filter(({ from, until }) => from !== null && until === null),
    current: () => statements.find(({ from, until }) => from !== null && until === null),
    commit(incoming: Incoming, at: Date, kept: Kept = {}): Effect {
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
        endedConsent: effect.withdraws || kept.endedConsent === true,
        isOrdered: kept.isOrdered ?? false,
        isImported: incoming.isImported ?? false,
        isInForce: effect.isInForce,
        from: effect.isInForce ? position : null,
        until: null,
        isNotice: incoming.isNotice,
        part: kept.part ?? null,
        expiresAt: kept.expiresAt ?? null,
      });
      return effect;
    },
  };
}
type Person = ReturnType<typeof createPerson>;

const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const hospital = 'https://hospital.example';
const theatre = 'https://theatre.example';

const choice = fc.constantFrom('accepted' as const, 'accepted' as const, 'refused' as const);
const source = fc.constantFrom(hospital, theatre);
const isNotice = fc.boolean();
const delay = fc.nat({ max: 60 });
/** Seconds for which a consent is valid. */
const validity = fc.option(fc.nat({ max: 60 }));
/** What a person does, by the clock of where it is done. */
const acts = {
  answer: fc.record({ does: fc.constant('answer' as const), choice, isNotice, validity }),
  /** Submitted now, confirmed after so many acts. */
  wait: fc.record({
    does: fc.constant('wait' as const),
    choice,
    isNotice,
    validity,
    held: fc.integer({ min: 1, max: 7 }),
  }),
  withdraw: fc.record({ does: fc.constant('withdraw' as const) }),
  /** A part: given `delay` seconds before it arrives, and held for so many acts. */
  part: fc.record({
    does: fc.constant('part' as const),
    source,
    choice,
    isNotice,
    validity,
    delay,
    held: fc.nat({ max: 4 }),
  }),
  /** A leader withdraws one of its parts. Old ones do not state since when. */
  order: fc.record({
    does: fc.constant('order' as const),
    source,
    part: fc.nat({ max: 3 }),
    delay: fc.option(delay, { freq: 8 }),
  }),
  /** Taken over from another system, where it was given `delay` seconds before. */
  import: fc.record({
    does: fc.constant('import' as const),
    choice,
    // Half of them at the same time as something else.
    delay: fc.oneof(
      delay,
      fc.nat({ max: 6 }).map((acts) => acts * 10),
    ),
  }),
  erase: fc.record({ does: fc.constant('erase' as const), statement: fc.nat({ max: 5 }) }),
};
const weights = { answer: 3, wait: 3, withdraw: 2, part: 4, order: 3, import: 3, erase: 1 };
const act = fc.oneof(
  ...Object.entries(acts).map(([does, arbitrary]) => ({
    weight: weights[does as keyof typeof acts],
    arbitrary: arbitrary as fc.Arbitrary<Act>,
  })),
);
type Act = {
  [Does in keyof typeof acts]: (typeof acts)[Does] extends fc.Arbitrary<infer Of> ? Of : never;
}[keyof typeof acts];

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

/** A statement that was decided, and what was stored before. */
interface Decided {
  incoming: Incoming;
  /** Undefined: it was not taken over. */
  effect: Effect | undefined;
  before: Stored | undefined;
  earlier: readonly Stored[];
  orderedAt: Date | null;
  person: Person;
}

/** What {@link live} tells of a history. */
interface Watch {
  decided(decided: Decided): void;
  /** An order, and whether it ended the answer that was in force before. */
  ordered(
    answer: Stored,
    order: { leader: string; withdrawnAt: Date | undefined; part: number },
    ends: boolean,
  ): void;
  /** Which consent allowed something before and after time passed, or something was erased. */
  passed(before: string | undefined, after: string | undefined): void;
}

/** The consent that allows at a time: the decision that is made of the statement in force. */
function allowedBy(person: Person, asOf: Date): string | undefined {
  const current = person.current();
  const version = { type: 'processing', major: 1, owner: null, isObjection: false };
  const answer = current && {
    record: current.id,
    serial: '1.0',
    infoKey: 'information',
    infoSerial: '1.0',
    refused: current.choice === 'refused',
    withdraws: current.endedConsent,
    ofPeer: current.source !== null,
    isImported: current.isImported,
    given: current.committedAt,
    expires: current.expiresAt,
  };
  const facts = { element: 'key', object: '', version, information: version, restricted: false, answer };
  const decision = decideElement({ ...facts, asOf, position: 0, isCollectedAlone: false });
  return decision.allowed ? decision.record : undefined;
}

interface Waiting {
  incoming: Incoming;
  kept: Kept;
  due: number;
}

/** Carries a history out, one act every ten seconds. */
function live(history: readonly Act[], skews: Record<string, number>, watch: Watch): void {
  const person = createPerson();
  let waiting: Waiting[] = [];
  const parts: { source: string; isHeld: boolean }[] = [];
  const decide = (incoming: Incoming, at: Date, kept: Kept = {}) => {
    const { before, earlier, orderedAt } = {
      before: person.current(),
      earlier: person.statements.map((each) => ({ ...each })),
      orderedAt: person.question(incoming.source).orderedAt,
    };
    const isTaken = !isRefusedHere(incoming, person.question(incoming.source));
    const effect = isTaken ? person.commit(incoming, at, kept) : undefined;
    watch.decided({ incoming, effect, before, earlier, orderedAt, person });
  };
  const refuse = (at: Date, from: Source, givenAt: Date, kept: Kept) => {
    const incoming = { source: from, givenAt, receivedAt: at, waitingSince: null, isNotice: false };
    person.commit({ ...incoming, choice: 'refused' }, at, { ...kept, endedConsent: true });
  };
  const does = {
    give(one: Extract<Act, { choice: unknown; validity: unknown }>, step: number) {
      const at = time(step * 10);
      const from = one.does === 'part' ? one.source : null;
      const givenAt = one.does === 'part' ? time(step * 10 - one.delay + (skews[one.source] ?? 0)) : at;
      const held = one.does === 'answer' ? 0 : one.held;
      const expiresAt =
        one.choice === 'refused' || one.validity === null ? null : time(step * 10 + one.validity);
      const incoming = {
        source: from,
        givenAt,
        receivedAt: at,
        waitingSince: held > 0 ? person.next() : null,
        choice: one.choice,
        isNotice: one.isNotice && one.choice === 'accepted',
      };
      const part = one.does === 'part' ? parts.push({ source: one.source, isHeld: held > 0 }) - 1 : null;
      if (held > 0) waiting.push({ incoming, kept: { expiresAt, part }, due: step + held });
      else decide(incoming, at, { expiresAt, part });
    },
    withdraw(at: Date) {
      const waits = waiting.some(({ incoming }) => incoming.choice === 'accepted');
      if (person.current()?.choice === 'accepted' || waits) refuse(at, null, at, {});
    },
    order(one: Extract<Act, { does: 'order' }>, step: number) {
      const sent = [...parts.keys()].filter((number) => parts[number]?.source === one.source);
      const part = sent[one.part % sent.length];
      if (part === undefined) return;
      if (parts[part]?.isHeld) {
        waiting = waiting.filter(({ kept }) => kept.part !== part);
        return;
      }
      const at = time(step * 10);
      const withdrawnAt =
        one.delay === null ? undefined : time(step * 10 - one.delay + (skews[one.source] ?? 0));
      const known = person.orders.get(one.source);
      if (withdrawnAt && (!known || known < withdrawnAt)) person.orders.set(one.source, withdrawnAt);
      const current = person.current();
      if (current?.choice !== 'accepted') return;
      const order = { leader: one.source, withdrawnAt };
      const ends = isEndedByOrder({ ...current, isOfPart: current.part === part }, order);
      watch.ordered(current, { ...order, part }, ends);
      if (ends) refuse(at, one.source, withdrawnAt ?? at, { isOrdered: true });
    },
    erase({ statement }: Extract<Act, { does: 'erase' }>, at: Date) {
      const before = allowedBy(person, at);
      if (person.statements.length > 0) person.statements.splice(statement % person.statements.length, 1);
      watch.passed(before, allowedBy(person, at));
    },
  };
  history.forEach((one, step) => {
    const at = time(step * 10);
    if (one.does === 'withdraw') does.withdraw(at);
    else if (one.does === 'order') does.order(one, step);
    else if (one.does === 'import') {
      const givenAt = time(step * 10 - one.delay);
      decide(takenOver(one.choice, givenAt, at), givenAt);
    } else if (one.does === 'erase') does.erase(one, at);
    else does.give(one, step);
    const due = waiting.filter((each) => each.due === step);
    waiting = waiting.filter((each) => each.due > step);
    for (const { incoming, kept } of due) {
      const sent = parts[kept.part ?? -1];
      if (sent) sent.isHeld = false;
      decide(incoming, time(step * 10 + 5), kept);
    }
    watch.passed(allowedBy(person, time(step * 10 + 5)), allowedBy(person, time(step * 10 + 10)));
  });
}

/**
 * Why a statement is not in force: the statements because of which it counts as older, or the time of an
 * order. None: it is in force.
 */
const reasons: Record<string, (decided: Decided) => readonly (Stored | Date)[]> = {
  'it waited here, and a refusal since has ended a consent, unless another instance ordered that': ({
    incoming: { source: from, isImported, waitingSince },
    earlier,
  }) =>
    from !== null || isImported || waitingSince === null
      ? []
      : earlier.filter(
          (each) =>
            each.choice === 'refused' &&
            !each.isImported &&
            each.endedConsent &&
            !each.isOrdered &&
            each.position > waitingSince,
        ),
  'it was given here, and a refusal that was given later was taken over since': ({
    incoming: { source: from, isImported, givenAt },
    earlier,
  }) =>
    from !== null || isImported
      ? []
      : earlier.filter((each) => each.isImported && each.choice === 'refused' && each.committedAt > givenAt),
  'a later answer was given at the same peer': ({ incoming: { source: from, givenAt }, earlier }) =>
    from === null ? [] : earlier.filter((each) => each.source === from && each.givenAt > givenAt),
  'it is a consent, and its peer has ordered later to withdraw the question': ({
    incoming: { choice: chosen, givenAt },
    orderedAt,
  }) => (chosen === 'accepted' && orderedAt !== null && orderedAt > givenAt ? [orderedAt] : []),
  'it was given at a peer, and a refusal was stored elsewhere after it was given, or after it arrived': ({
    incoming: { source: from, givenAt, receivedAt },
    earlier,
  }) =>
    from === null
      ? []
      : earlier.filter(
          (each) =>
            each.choice === 'refused' &&
            each.source !== from &&
            (each.committedAt >= givenAt || each.committedAt >= receivedAt),
        ),
  'it was taken over, and something newer was said': ({ incoming: { isImported, givenAt }, earlier }) =>
    isImported ? earlier.filter(({ committedAt }) => committedAt > givenAt) : [],
  'it was taken over, and at the same time something was said here': ({
    incoming: { isImported, givenAt },
    earlier,
  }) =>
    isImported
      ? earlier.filter((each) => !each.isImported && each.committedAt.getTime() === givenAt.getTime())
      : [],
  'it was taken over, and so was a refusal of the same time': ({
    incoming: { isImported, choice: chosen, givenAt },
    earlier,
  }) =>
    isImported && chosen === 'accepted'
      ? earlier.filter(
          (each) => each.choice === 'refused' && each.committedAt.getTime() === givenAt.getTime(),
        )
      : [],
  'it is a notice, and a refusal is in force': ({ incoming, before }) =>
    incoming.isNotice && before?.choice === 'refused' ? [before] : [],
};

const causesOf = (decided: Decided) => Object.values(reasons).flatMap((reason) => reason(decided));

/** When the person refused: at a peer's form, by its clock. */
const refusedAt = (each: Stored | Date) =>
  each instanceof Date ? each : each.source === null ? each.committedAt : each.givenAt;

/** What must hold of each statement. */
const promises: Record<string, (decided: Decided & { effect: Effect }) => boolean> = {
  'a statement is in force if nothing of this keeps it out': (decided) =>
    decided.effect.isInForce === (causesOf(decided).length === 0),
  'at most one is in force, and what replaces it begins where it ends': ({ effect, before, person }) => {
    const [current, ...others] = person.inForce();
    if (others.length > 0) return false;
    if (!effect.isInForce) return current?.id === before?.id && effect.ends === null;
    return effect.ends?.id === before?.id && (!before || before.until === current?.from);
  },
  'a refusal names the consent that it ended': ({ incoming, effect, before }) =>
    effect.withdraws === (effect.isInForce && incoming.choice === 'refused' && before?.choice === 'accepted'),
  'a consent that is not in force says when the first refusal ended it': (decided) => {
    const refusals = causesOf(decided).filter((each) => each instanceof Date || each.choice === 'refused');
    const times = refusals.map((each) => refusedAt(each).getTime());
    const isStated = decided.incoming.choice === 'accepted' && times.length > 0;
    return (decided.effect.withdrawnAt?.getTime() ?? null) === (isStated ? Math.min(...times) : null);
  },
};

const runs = { numRuns: 10_000, seed: 40 };
const histories = fc.tuple(
  fc.array(act, { minLength: 1, maxLength: 14 }),
  fc.record({ [hospital]: fc.integer({ min: -30, max: 30 }), [theatre]: fc.integer({ min: -30, max: 30 }) }),
);

describe('whatever a person says, at whatever forms, in whatever order it arrives', () => {
  const broken = new Map<string, readonly Act[]>();
  /** How often something happened. */
  const times = new Map<string, number>();
  const refusedHere =
    'only a consent is not taken over, if it was given after a refusal in force was collected here';
  const orders =
    'an order ends a consent of its part, and of its peer a notice and what was given before it, and nothing else';
  const lasting = 'nothing is allowed again because time passed or something was erased';
  beforeAll(() => {
    for (const [history, skews] of fc.sample(histories, runs)) {
      const promise = (name: string, holds: boolean) => {
        if (!holds && !broken.has(name)) broken.set(name, history);
      };
      const count = (name: string) => times.set(name, (times.get(name) ?? 0) + 1);
      count('lived');
      live(history, skews, {
        decided(decided) {
          const { incoming, effect, before } = decided;
          const isRefused =
            incoming.isImported === true &&
            incoming.choice === 'accepted' &&
            before?.choice === 'refused' &&
            !before.isImported &&
            before.committedAt < incoming.givenAt;
          promise(refusedHere, isRefused === (effect === undefined));
          if (!effect) return count(refusedHere);
          for (const [name, reason] of Object.entries(reasons))
            if (reason(decided).length > 0) {
              count(name);
              promise(name, !effect.isInForce);
            }
          for (const [name, holds] of Object.entries(promises)) promise(name, holds({ ...decided, effect }));
        },
        ordered(answer, { leader, withdrawnAt, part }, ends) {
          const isOfPeer = answer.source === leader && withdrawnAt !== undefined;
          const isBefore = withdrawnAt !== undefined && answer.givenAt <= withdrawnAt;
          promise(orders, ends === (answer.part === part || (isOfPeer && (answer.isNotice || isBefore))));
          count(ends ? orders : 'stayed');
        },
        passed(before, after) {
          promise(lasting, after === undefined || after === before);
          if (before !== after) count(lasting);
        },
      });
    }
  });

  it('10,000 histories were lived', () => expect(times.get('lived')).toBe(10_000));

  it.each([...Object.keys(promises), refusedHere, orders, lasting])('%s', (name) =>
    expect(broken.get(name)).toBeUndefined(),
  );

  it.each(Object.keys(reasons))('a statement is not in force if %s', (name) =>
    expect(broken.get(name)).toBeUndefined(),
  );

  it.each([...Object.keys(reasons), refusedHere, orders, 'stayed', lasting])(
    'the histories have: %s',
    (name) => expect(times.get(name)).toBeGreaterThan(20),
  );
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

describe('an answer that a person clears at the forms of one peer', () => {
  it('is what the newest of them says, in whatever order they arrive', () => {
    const given = fc.uniqueArray(
      fc.record({ at: fc.nat({ max: 1000 }), choice: fc.constantFrom('chosen' as const, 'none' as const) }),
      { selector: ({ at }) => at, minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(given, (answers) => {
        const person = createPerson();
        answers.forEach((answer, place) => {
          const receivedAt = time(2000 + place);
          const incoming = { source: hospital, givenAt: time(answer.at), receivedAt, waitingSince: null };
          person.commit({ ...incoming, choice: answer.choice, isNotice: false }, receivedAt);
        });
        const newest = answers.toSorted((one, other) => other.at - one.at)[0];
        expect(person.current()?.choice).toBe(newest?.choice === 'none' ? undefined : 'chosen');
      }),
      runs,
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
