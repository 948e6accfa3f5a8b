import { formAndSubmit } from './faults/fault.ts';
import type { Line } from './load/history.ts';
import type { Outcome } from './run-chaos.ts';

/** What a run has to reach. */
export interface Goal {
  faults: number;
  /** Acknowledged submits. */
  answers: number;
}

/** One thing that was wanted. */
export interface Finding {
  what: string;
  wanted: string;
  got: string;
  good: boolean;
}

/** Says whether a run has shown what it was to show. */
export function judge(outcome: Outcome, goal: Goal): Finding[] {
  const { breaches } = outcome;
  const of = (...invariants: string[]) =>
    breaches.filter((breach) => invariants.some((each) => breach.startsWith(each))).length;
  const none = (what: string, count: number) => ({
    what,
    wanted: '0',
    got: String(count),
    good: count === 0,
  });
  const faults = countFaults(outcome);
  const answers = countAnswers(outcome.history);
  const { sent, failed } = formsAndSubmits(outcome);
  return [
    { what: 'faults', wanted: `≥ ${goal.faults}`, got: String(faults), good: faults >= goal.faults },
    {
      ...{ what: 'acknowledged submits', wanted: `≥ ${goal.answers}`, got: String(answers) },
      good: answers >= goal.answers,
    },
    none('lost (I1)', of('I1')),
    none('doubled (I2)', of('I2')),
    none('other breaches', breaches.length - of('I1', 'I2')),
    {
      what: 'GET form and POST submit while Kafka, Redis or webhooks are broken',
      wanted: '≥ 99.9 %',
      got: sent === 0 ? 'none was sent' : `${(((sent - failed) / sent) * 100).toFixed(2)} % of ${sent}`,
      good: failed * 1_000 <= sent,
    },
  ];
}

export function countFaults({ struck }: Pick<Outcome, 'struck'>): number {
  return struck.reduce((sum, { blow }) => sum + blow.length, 0);
}

/** Answers that were acknowledged, also those that came with their context in a single step. */
export function countAnswers(history: readonly Line[]): number {
  return history.filter((line) => line.told === 'acknowledged' && 'answers' in line).length;
}

/** What subjects do goes on while something is broken that it does not need. */
function formsAndSubmits({ struck, meter }: Outcome): { sent: number; failed: number } {
  const found = struck
    .filter(({ blow }) => blow.every(({ promised }) => promised === formAndSubmit))
    .map(({ from, to }) => meter.between(from, to, formAndSubmit.kinds));
  return {
    sent: found.reduce((sum, each) => sum + each.sent, 0),
    failed: found.reduce((sum, each) => sum + each.failed, 0),
  };
}
