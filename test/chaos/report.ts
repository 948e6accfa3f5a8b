import { cpus, loadavg } from 'node:os';
import type { Line } from './load/history.ts';
import type { Outcome, Struck } from './run-chaos.ts';
import { nameOf } from './run-chaos.ts';
import { countAnswers, countFaults, type Finding } from './verdict.ts';

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
