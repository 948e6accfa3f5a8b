import { type State, states } from '../transaction/transaction.ts';

/** Transactions created on one day, by their state now; a day without any has one row with a null state. */
export interface StateCount {
  date: string;
  state: State | null;
  count: number;
}

/** Answers in transactions created on one day. */
export interface AnswerCount {
  date: string;
  key: string;
  type: 'processing' | 'conditions';
  answer: 'accepted' | 'refused';
  count: number;
  /** Those of them that ended a consent. */
  withdrawn: number;
}

interface AnswerTotals {
  accepted: number;
  refused: number;
  /** Those of the refused answers that ended a consent. */
  withdrawn: number;
}

/** Transactions by state; answers by element and by day. */
export interface Stats {
  states: Record<State, number>;
  elements: (Pick<AnswerCount, 'key' | 'type'> & AnswerTotals)[];
  days: ({ date: string; created: number; committed: number } & AnswerTotals)[];
}

const noAnswers: AnswerTotals = { accepted: 0, refused: 0, withdrawn: 0 };

/** Adds counts up. A day may occur several times; days without transactions are included. */
export function composeStats(counted: readonly StateCount[], answered: readonly AnswerCount[]): Stats {
  const byState = Object.fromEntries(states.map((state) => [state, 0])) as Stats['states'];
  const days = new Map<string, Stats['days'][number]>();
  const elements = new Map<string, Stats['elements'][number]>();
  for (const { date, state, count } of counted) {
    const day = days.get(date) ?? { date, created: 0, committed: 0, ...noAnswers };
    days.set(date, day);
    if (state === null) continue;
    byState[state] += count;
    day.created += count;
    if (state === 'COMMITTED') day.committed += count;
  }
  for (const { date, key, type, answer, count, withdrawn } of answered) {
    const element = elements.get(key) ?? { key, type, ...noAnswers };
    elements.set(key, element);
    for (const totals of [element, days.get(date)]) {
      if (!totals) continue;
      totals[answer] += count;
      totals.withdrawn += withdrawn;
    }
  }
  const byKey = [...elements.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  return { states: byState, elements: byKey, days: [...days.values()] };
}

/** A period of time: from `after` to before `before`. */
export interface Period {
  after: Date;
  before: Date;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Splits a period into consecutive parts of at most so many days. */
export function splitPeriod({ after, before }: Period, days: number): Period[] {
  const parts: Period[] = [];
  let from = after;
  while (from < before) {
    const until = new Date(Math.min(from.getTime() + days * dayMs, before.getTime()));
    parts.push({ after: from, before: until });
    from = until;
  }
  return parts;
}
