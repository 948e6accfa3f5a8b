import { cpus, loadavg } from 'node:os';
import { formAndSubmit } from './faults/fault.ts';
import type { Line } from './load/history.ts';
import { nameOf, type Outcome, type Struck } from './run-chaos.ts';

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
      what: 'acknowledged submits',
      wanted: `≥ ${goal.answers}`,
      got: String(answers),
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

/** How a run was made. */
export interface RunDescription {
  /** What was typed. */
  command: string;
  seconds: number;
}

/** What a run has found, as Markdown (docs/reliability.md). */
export function writeReport(outcome: Outcome, verdict: readonly Finding[], run: RunDescription): string {
  const { struck, history, breaches } = outcome;
  const load = loadavg().map((each) => each.toFixed(1));
  return [
    `# Fault test: ${verdict.every(({ good }) => good) ? 'passed' : 'FAILED'}`,
    '',
    `\`${run.command}\`, ${new Date().toISOString()}, ${run.seconds} s, ${cpus().length} cores, load average ${load.join(' ')}`,
    '',
    '| | wanted | got | |',
    '|---|---:|---:|---|',
    ...verdict.map(
      ({ what, wanted, got, good }) => `| ${what} | ${wanted} | ${got} | ${good ? 'yes' : 'NO'} |`,
    ),
    '',
    '| | |',
    '|---|---:|',
    `| faults | ${countFaults(outcome)}, in ${struck.length} blows |`,
    `| requests acknowledged | ${count(history, 'acknowledged')} |`,
    `| of them answers | ${countAnswers(history)} |`,
    `| refused, rightly | ${count(history, 'refused')} |`,
    `| attempts without an answer, sent again | ${count(history, 'unknown')} |`,
    `| replies of PostgreSQL lost | ${outcome.lostReplies} |`,
    '',
    ...availability(outcome),
    '',
    ...breaches.slice(0, 40).map((breach) => `- ${breach}`),
    ...(breaches.length > 40 ? [`- and ${breaches.length - 40} more`] : []),
    '',
  ].join('\n');
}

const count = (history: readonly Line[], told: Line['told']) =>
  history.filter((line) => line.told === told).length;

function availability({ struck, meter }: Outcome): string[] {
  const rows = [...Map.groupBy(struck, ({ blow }) => (blow.length === 1 ? nameOf(blow) : 'two at once'))]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, times]) => {
      const share = (kinds?: string[]) => shareOf(times, (from, to) => meter.between(from, to, kinds));
      return `| ${name} | ${times.length} | ${share(['form'])} | ${share(['submit'])} | ${share()} |`;
    });
  return ['| meanwhile | times | GET form | POST submit | all |', '|---|---:|---:|---:|---:|', ...rows];
}

function shareOf(
  times: readonly Struck[],
  between: (from: number, to: number) => { sent: number; failed: number },
): string {
  const found = times.map(({ from, to }) => between(from, to));
  const sent = found.reduce((sum, each) => sum + each.sent, 0);
  const failed = found.reduce((sum, each) => sum + each.failed, 0);
  return sent === 0 ? '–' : `${(((sent - failed) / sent) * 100).toFixed(1)} % of ${sent}`;
}
