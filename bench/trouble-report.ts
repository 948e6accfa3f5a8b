import { machine, spread } from './report.ts';
import { percentile } from './run-phase.ts';
import { type Trouble, troubles } from './trouble-maker.ts';
import type { Neighbours } from './trouble-neighbours.ts';

type Seen = Neighbours & { most?: number; sent?: number; refused?: number };

/** All that was measured, round by round. */
interface TroubleResults {
  seen: Record<Trouble, Seen[]>;
  rate: number;
  seconds: number;
  rounds: number;
  /** Load average of the machine over a minute, before and afterwards. */
  loads: readonly number[];
  command: string;
}

const what: Record<Trouble, string> = {
  none: 'nobody has to do with it',
  slow: 'it answers after 30 s',
  failing: 'it answers 500',
  refusing: 'it answers 403',
  elsewhere: 'it answers 503, and sends 200 signed requests a second to somebody else on the machine',
  flooding: 'it answers 503, and sends 200 signed requests a second',
};
/** Of others' submits and deliveries. */
const target = 1.2;

/** The report as Markdown, for the terminal and for the file. */
export function writeTroubleReport({ seen, rate, seconds, rounds, loads, command }: TroubleResults): string {
  return [
    '# What a peer in trouble costs the others',
    '',
    'An instance with two peers, each a process and a database of its own on one PostgreSQL. Flows begin at an even rate, of three kinds in turn:',
    "own questions, one of the peer that is well, and one of the peer in trouble; without it the third kind is like the first. What is measured is everybody else's.",
    `${rounds} rounds of ${seconds} s each with ${rate} flows a second, every trouble in each round; who floods is a process of its own, and all else the peer in trouble does is played by the driver.`,
    '',
    `Machine: ${machine()}. Load average before the run ${loads[0]?.toFixed(1)}, after it ${loads[1]?.toFixed(1)} (a quiet machine begins below 1; on a busy one look at the CPU, and not at latencies).`,
    '',
    '| the peer in trouble | submits of others, p50 | p99 | ratio | their parts at the peer that is well, p50 | p99 | ratio |',
    '|---|---|---|---|---|---|---|',
    ...troubles.map((trouble) => row(trouble, seen)),
    '',
    `The target is at most ${target} at p99. Milliseconds, of all rounds together, and in brackets the ratios round by round: their median, from which to which. Who floods takes its share of this one machine; the last line is therefore told beside the one before it, whose flood is not for the leader.`,
    '',
    '| the peer in trouble | CPU ms of the leader for a flow | flows of others that failed | parts missing | held for it in the end | under way to it at once, at most | its own requests | of them turned away |',
    '|---|---|---|---|---|---|---|---|',
    ...troubles.map((trouble) => facts(trouble, seen[trouble])),
    '',
    `To reproduce: \`${command}\` (Linux).`,
    '',
  ].join('\n');
}

/**
 * Who floods takes a share of the machine that all stand on here: what the leader has to bear is told beside
 * a flood that is not for it.
 */
const besideWhom = (trouble: Trouble): Trouble => (trouble === 'flooding' ? 'elsewhere' : 'none');

function row(trouble: Trouble, seen: TroubleResults['seen']): string {
  const calm = seen[besideWhom(trouble)];
  const cells = [submits, delays].flatMap((of) => {
    const values = seen[trouble].flatMap(of);
    const ratios = seen[trouble].map(
      (each, round) =>
        percentile(of(each), 0.99) / percentile(calm.slice(round, round + 1).flatMap(of), 0.99),
    );
    const ofAll = percentile(values, 0.99) / percentile(calm.flatMap(of), 0.99);
    return [
      percentile(values, 0.5).toFixed(0),
      percentile(values, 0.99).toFixed(0),
      trouble === 'none'
        ? ''
        : `${ofAll.toFixed(2)} (${percentile(ratios, 0.5).toFixed(2)}, ${spread(ratios)})`,
    ];
  });
  return `| ${what[trouble]} | ${cells.join(' | ')} |`;
}

const submits = ({ own, shared }: Seen) => [...own, ...shared];
const delays = (seen: Seen) => seen.delays;

function facts(trouble: Trouble, rounds: Seen[]): string {
  const sum = (of: (seen: Seen) => number | undefined) =>
    rounds.reduce((total, each) => total + (of(each) ?? 0), 0);
  const most = (of: (seen: Seen) => number | undefined) => Math.max(...rounds.map((each) => of(each) ?? 0));
  const cpu = rounds.map(({ cpuMs }) => cpuMs.toFixed(1)).join(', ');
  const cells = [
    cpu,
    ...[sum(({ failed }) => failed), sum(({ missing }) => missing), most(({ queued }) => queued)],
    most((each) => each.most),
    ...[sum(({ sent }) => sent), sum(({ refused }) => refused)],
  ];
  return `| ${what[trouble]} | ${cells.join(' | ')} |`;
}
