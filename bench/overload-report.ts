import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Load } from './overload.ts';
import { steps } from './run-flow.ts';
import { percentile } from './run-phase.ts';

interface Results {
  peak: Load;
  overload: Load;
  factor: number;
  command: () => string;
}

/** The report as Markdown, for the terminal and for the file. */
export function writeOverloadReport({ peak, overload, factor, command }: Results): string {
  const share = perSecond(overload) / perSecond(peak);
  const refusedSubmits = overload.refusedAt.submit ?? 0;
  return [
    '# More than it can do',
    '',
    'One process as `npm start` runs it, with the default limits unless the command says otherwise. In turn: flows (create, open, form,',
    `submit, final page) each after the one before; and ${factor} times as many beginning every second as were done so, whatever becomes of those`,
    'before, and nobody tries again. The driver, the server and its PostgreSQL share the machine: ' +
      `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node.js ${process.versions.node}.`,
    `Load average at the end: ${loadavg()[0]?.toFixed(1)}. Far above the number of cores, times say more of the neighbours than of the guard.`,
    '',
    '| | target | measured |',
    '|---|---|---|',
    `| p99 of accepted requests | < 1,000 ms | ${ms(overload.accepted, 0.99)} |`,
    `| flows done per second, beside the peak | ≥ 0.80 | ${share.toFixed(2)} (${perSecond(overload).toFixed(0)} of ${perSecond(peak).toFixed(0)}) |`,
    `| the same per CPU second of the process | | ${(perCpuSecond(overload) / perCpuSecond(peak)).toFixed(2)} (${perCpuSecond(overload).toFixed(0)} of ${perCpuSecond(peak).toFixed(0)}) |`,
    `| submits refused | last | ${refusedSubmits} of ${overload.submits} |`,
    '',
    '| | begun | done | refused at | p50 / p99 accepted | p50 / p99 refused | failed otherwise |',
    '|---|---|---|---|---|---|---|',
    row('peak', peak),
    row(`${factor} × the peak`, overload),
    '',
    `To reproduce: \`${command()}\` (Linux).`,
    '',
  ].join('\n');
}

function row(name: string, load: Load): string {
  const where = steps
    .filter((step) => load.refusedAt[step])
    .map((step) => `${step} ${load.refusedAt[step]}`)
    .join(', ');
  const times = (values: number[]) =>
    values.length === 0 ? '–' : `${ms(values, 0.5)} / ${ms(values, 0.99)}`;
  return `| ${name} | ${load.begun} | ${load.done} | ${where || '–'} | ${times(load.accepted)} | ${times(load.refused)} | ${failures(load)} |`;
}

/** @returns how many of each kind. */
function failures(load: Load): string {
  const kinds = Map.groupBy(load.failures, (failure) => failure.slice(0, 60));
  return [...kinds].map(([kind, all]) => `${all.length} × ${kind}`).join(', ') || '0';
}

function perSecond({ done, seconds }: Load): number {
  return done / seconds;
}

function perCpuSecond({ done, cpuSeconds }: Load): number {
  return done / cpuSeconds;
}

function ms(values: number[], share: number): string {
  return `${percentile(values, share).toFixed(0)} ms`;
}
