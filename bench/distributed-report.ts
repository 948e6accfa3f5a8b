import type { EventLatency } from './event-latency.ts';
import {
  latencies,
  machine,
  perCpuSecond,
  type Results,
  roundRatios,
  type System,
  spread,
  throughput,
} from './report.ts';
import { addPhases, type Phase, percentile } from './run-phase.ts';

/** All that was measured. */
export interface DistributedResults extends Pick<Results, 'phases' | 'flows' | 'concurrency' | 'command'> {
  /** The bare server once more, divided as Accord is. */
  divided: Phase[];
  events: EventLatency;
  /** CPU seconds of each service's process during the flows, the warm-up included. */
  shares: Record<string, number>;
  /** Load average of the machine over a minute, before and afterwards. */
  loads: readonly number[];
}

/** The report as Markdown, for the terminal and for the file. */
export function writeDistributedReport(results: DistributedResults): string {
  const of = (system: System) =>
    perCpuSecond(
      addPhases(results.phases.filter((each) => each.system === system).map(({ phase }) => phase)),
    );
  const ratio = of('Accord') / of('bare');
  const { events } = results;
  const dividedRate = perCpuSecond(addPhases(results.divided));
  return [
    '# How fast separate services are',
    '',
    'The full flow (create, open, form, submit, final page) against one process of each service on PostgreSQL, Kafka and Redis of this',
    'machine, and against a bare Koa + pg server (`bench/baseline-server.ts`) in a copy of the same database on the same PostgreSQL, with full',
    'durability. CPU seconds are the sum of all service processes; PostgreSQL, Kafka and Redis are not counted on either side. The bare',
    'server sends nothing to Kafka. Both are measured in turn in one run, so only the ratios mean something on another machine.',
    '',
    `Machine: ${machine()}. The driver and all servers share it. Load average before the run ${results.loads[0]?.toFixed(1)}, after it ${results.loads[1]?.toFixed(1)} (a quiet machine begins below 1).`,
    `${results.flows} flows each in rounds of both kinds of subjects, ${results.concurrency} at a time. Returning subjects have given 100 answers before.`,
    '',
    '| | target | measured |',
    '|---|---|---|',
    `| flows per CPU second, beside the bare server | ≥ 0.45 | ${ratio.toFixed(2)} (by round ${spread(roundRatios(results))}) |`,
    `| from the answer to a submit to its event at a consumer, p99 | ≤ 250 ms | ${percentile(events.delays, 0.99).toFixed(0)} ms (p50 ${percentile(events.delays, 0.5).toFixed(0)} ms) |`,
    `| flows per CPU second of a bare server that is divided alike, beside the whole one | – | ${(dividedRate / of('bare')).toFixed(2)} (${(1000 / dividedRate).toFixed(2)} CPU seconds per 1,000 flows) |`,
    '',
    'Divided alike means: what forms do is a second process, which is called as services of Accord call each other, with inputs and answers of',
    'the same size; events go to Kafka, and the second process reads them and does nothing with them. So that figure is what it costs to be',
    'several, without anything that Accord does, and Accord cannot get above it.',
    '',
    `Events: ${events.flows} flows at ${events.flowsPerSecond.toFixed(0)} per second, begun at an even rate; they took ${((events.cpuSeconds / events.flows) * 1000).toFixed(1)} ms of CPU each. ${events.missing} of their events did not come. The consumer is kafkajs in the driver's process.`,
    '',
    ...throughput(results),
    '',
    ...latencies(results),
    '',
    `Of Accord's CPU time: ${shares(results)}.`,
    '',
    `To reproduce: \`${results.command}\` (Linux).`,
    '',
  ].join('\n');
}

function shares({ shares: seconds }: DistributedResults): string {
  const total = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  return Object.entries(seconds)
    .map(([name, each]) => `${name} ${((each / total) * 100).toFixed(0)} %`)
    .join(', ');
}
