import type { ReadPlan } from './read-plans.ts';
import { machine, spread } from './report.ts';
import type { Phase } from './run-phase.ts';

/** Flows beside so many records. */
export interface RecordsPhase {
  records: number;
  round: number;
  phase: Phase;
  /** CPU seconds of the database connections. */
  postgresCpu: number;
  /** CPU seconds of the server and its database connections. */
  cost: number;
}

/** All that was measured. */
export interface RecordsResults {
  phases: RecordsPhase[];
  /** Few and many. */
  sizes: number[];
  flows: number;
  plans: ReadPlan[];
  /** Load average of the machine over a minute, before and afterwards. */
  loads: readonly number[];
  command: string;
}

/** The report as Markdown, for the terminal and for the file. */
export function writeRecordsReport(results: RecordsResults): string {
  const { phases, sizes, plans } = results;
  const [few = 0, many = 0] = sizes;
  const total = (records: number, of: (phase: RecordsPhase) => number, round?: number) =>
    phases
      .filter((each) => each.records === records && (round === undefined || each.round === round))
      .reduce((sum, each) => sum + of(each), 0);
  const ratio = (round?: number) =>
    total(many, ({ cost }) => cost, round) / total(few, ({ cost }) => cost, round);
  const rounds = [...new Set(phases.map(({ round }) => round))];
  const costs: ((phase: RecordsPhase) => number)[] = [
    ({ cost }) => cost,
    ({ phase }) => phase.cpuSeconds,
    ({ postgresCpu }) => postgresCpu,
  ];
  const row = (records: number) => {
    const cells = costs.map((of) => ((total(records, of) / results.flows) * 1000).toFixed(2));
    return `| ${records.toLocaleString('en')} | ${cells.join(' | ')} |`;
  };
  const whole = plans.filter(({ readWhole }) => readWhole.length > 0);
  return [
    '# What many records cost',
    '',
    'The full flow against `services/standalone.ts` on PostgreSQL, beside few and beside many records (`bench/fill-tables.ts`: a tenth of the',
    'records as many subjects, the first of them with many more answers than the last; transactions, history, claims and receipts to match).',
    'Half of the subjects are new, half have answered before. Costs are CPU seconds of the server and of its database connections.',
    '',
    `Machine: ${machine()}. Load average before the run ${results.loads[0]?.toFixed(1)}, after it ${results.loads[1]?.toFixed(1)} (a quiet machine begins below 1).`,
    '',
    '| | target | measured |',
    '|---|---|---|',
    `| cost per flow at ${many.toLocaleString('en')} records, beside ${few.toLocaleString('en')} | ≤ 1.2 | ${ratio().toFixed(2)} (by round ${spread(rounds.map(ratio))}) |`,
    `| statements that read a growing table whole | 0 of ${plans.length} | ${whole.length} |`,
    '',
    '| records | CPU seconds per 1,000 flows | of the server | of its database connections |',
    '|---|---|---|---|',
    ...sizes.map(row),
    '',
    `Plans at ${many.toLocaleString('en')} records of every statement that the services sent during create, open, form, submit, final page, records of the subject,`,
    'receipt, and the transaction and its list in JSON; jobs that ran meanwhile included:',
    '',
    '| schema | statement | indexes | read whole |',
    '|---|---|---|---|',
    ...plans.map(
      ({ schema, text, indexes, readWhole }) =>
        `| ${schema} | \`${shorten(text)}\` | ${indexes.join(', ') || 'none'} | ${readWhole.join(', ')} |`,
    ),
    '',
    `To reproduce: \`${results.command}\` (Linux).`,
    '',
  ].join('\n');
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', "'");
  return line.length > 110 ? `${line.slice(0, 110)}…` : line;
}
