import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { watchStolen } from './process-usage.ts';
import { steps } from './run-flow.ts';
import { addPhases, type Phase, percentile } from './run-phase.ts';

/** Kinds of subjects, and the servers that serve them. */
export const kinds = ['new', 'returning'] as const;
export type Kind = (typeof kinds)[number];
export const systems = ['Accord', 'bare'] as const;
export type System = (typeof systems)[number];

/** All that was measured. */
export interface Results {
  phases: { system: System; kind: Kind; round: number; phase: Phase }[];
  flows: number;
  concurrency: number;
  /** Resident memory in MB, at the start and after all flows. */
  memory: Record<System, { atStart: number; afterwards: number; flows: number }>;
  firstStartMs: number;
  secondStartMs: number[];
  command: string;
}

/** What the issue asks for, beside what was measured. */
export interface Verdicts {
  ratio: number;
  postgresCost: number;
  returningCost: number;
  readyMs: number;
  residentMegabytes: number;
}

/** The five figures that have a target. */
export function verdictsOf(results: Results): Verdicts {
  const of = (system: System, kind?: Kind) =>
    addPhases(
      results.phases
        .filter((each) => each.system === system && (kind === undefined || each.kind === kind))
        .map(({ phase }) => phase),
    );
  return {
    ratio: perCpuSecond(of('Accord')) / perCpuSecond(of('bare')),
    postgresCost: of('Accord').postgresSeconds / of('bare').postgresSeconds,
    returningCost: costPer1000(of('Accord', 'returning')) / costPer1000(of('Accord', 'new')),
    readyMs: percentile(results.secondStartMs, 0.5),
    residentMegabytes: results.memory.Accord.afterwards,
  };
}

/** The report as Markdown, for the terminal and for the file. */
export function writeReport(results: Results): string {
  return [
    '# How fast it is',
    '',
    'The full flow (create, open, form, submit, final page) from a second process, against Accord as `npm start` runs it and against a bare',
    'Koa + pg server (`bench/baseline-server.ts`): the same SQL statements with the same kind of parameters and the same outbox relay, constant',
    'strings of the same size for pages, and no validation, rights, tokens, rendering or signatures. Each has an embedded PostgreSQL of its',
    'own with full durability. Both are measured in turn in one run, so only the ratios mean something on another machine.',
    '',
    `Machine: ${machine()}. The driver, both servers and both databases share it.`,
    `${results.flows} flows each in rounds of both kinds of subjects, ${results.concurrency} at a time. Returning subjects have given 100 answers before.`,
    '',
    ...targets(results),
    '',
    ...throughput(results),
    '',
    ...latencies(results),
    '',
    `Memory (resident, the server's own process): ${systems.map((system) => memoryOf(results, system)).join('; ')}.`,
    `Ready after ${seconds(results.firstStartMs)} at the first start (which makes the database), ${results.secondStartMs.map(seconds).join(', ')} at later ones.`,
    '',
    `To reproduce: \`${results.command}\` (Linux).`,
    '',
  ].join('\n');
}

function targets(results: Results): string[] {
  const { ratio, postgresCost, returningCost, readyMs, residentMegabytes } = verdictsOf(results);
  return [
    '| | target | measured |',
    '|---|---|---|',
    `| flows per CPU second, beside the bare server | ≥ 0.55 | ${ratio.toFixed(2)} (by round ${spread(roundRatios(results))}) |`,
    `| CPU of PostgreSQL, beside that of the bare server's | ≤ 1.5 | ${postgresCost.toFixed(2)} |`,
    `| CPU cost of returning subjects, beside new ones | ≤ 1.2 | ${returningCost.toFixed(2)} |`,
    `| ready on a second start | ≤ 1 s | ${seconds(readyMs)} |`,
    `| memory after ${results.memory.Accord.flows} flows | < 250 MB | ${residentMegabytes.toFixed(0)} MB |`,
  ];
}

/** What flows cost, by kind and server. */
export function throughput({ phases }: Pick<Results, 'phases'>): string[] {
  const rows = kinds.flatMap((kind) =>
    systems.map((system) => {
      const phase = addPhases(
        phases.filter((each) => each.system === system && each.kind === kind).map((each) => each.phase),
      );
      return `| ${kind} | ${system} | ${(phase.flows / phase.seconds).toFixed(0)} | ${costPer1000(phase).toFixed(2)} | ${perCpuSecond(phase).toFixed(0)} |`;
    }),
  );
  return [
    '| subjects | server | flows per second | CPU seconds per 1,000 flows | flows per CPU second |',
    '|---|---|---|---|---|',
    ...rows,
  ];
}

/** How long requests took, by kind and server. */
export function latencies({ phases }: Pick<Results, 'phases'>): string[] {
  const rows = kinds.flatMap((kind) =>
    systems.map((system) => {
      const { times } = addPhases(
        phases.filter((each) => each.system === system && each.kind === kind).map((each) => each.phase),
      );
      const cells = steps.map(
        (step) => `${percentile(times[step], 0.5).toFixed(1)} / ${percentile(times[step], 0.99).toFixed(1)}`,
      );
      return `| ${kind} | ${system} | ${cells.join(' | ')} |`;
    }),
  );
  return [
    `| p50 / p99 in ms | server | ${steps.join(' | ')} |`,
    `|---|---|${steps.map(() => '---|').join('')}`,
    ...rows,
  ];
}

/** Accord's flows per CPU second beside the bare server's, by round. */
export function roundRatios({ phases }: Pick<Results, 'phases'>): number[] {
  const rounds = [...new Set(phases.map(({ round }) => round))];
  return rounds.map((round) => {
    const of = (system: System) =>
      addPhases(
        phases.filter((each) => each.round === round && each.system === system).map(({ phase }) => phase),
      );
    return perCpuSecond(of('Accord')) / perCpuSecond(of('bare'));
  });
}

/** From the least to the greatest. */
export function spread(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
}

export function perCpuSecond({ flows, cpuSeconds }: Phase): number {
  return flows / cpuSeconds;
}

export function costPer1000({ flows, cpuSeconds }: Phase): number {
  return (cpuSeconds / flows) * 1000;
}

function memoryOf({ memory }: Results, system: System): string {
  const { atStart, afterwards, flows } = memory[system];
  return `${system} ${atStart.toFixed(0)} MB at the start, ${afterwards.toFixed(0)} MB after ${flows} flows`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

const stolenSinceStart = watchStolen();

/** What it ran on, and how much of that others had in the meantime. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const stolen = stolenSinceStart();
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
  return `${availableParallelism()} cores (${model}), ${gigabytes} GiB, ${type()} ${release()} ${arch()}, Node.js ${process.versions.node}${stolen === undefined ? '' : `; its host gave ${(stolen * 100).toFixed(0)} % of the time that it needed to others`}`;
}
