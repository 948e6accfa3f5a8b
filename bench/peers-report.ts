import type { Backlog } from './peers-backlog.ts';
import type { CryptoCost } from './peers-crypto.ts';
import type { FormCosts } from './peers-forms.ts';
import type { PartLatency } from './peers-latency.ts';
import { machine, spread } from './report.ts';
import { percentile } from './run-phase.ts';

interface FlowCpu {
  /** CPU seconds of the process. */
  leader: number;
  owner: number;
  flowsPerSecond: number;
}

/** All that was measured. */
export interface PeersResults {
  crypto: CryptoCost;
  forms: FormCosts;
  cpu: { own: FlowCpu[]; peers: FlowCpu[]; flowsEach: number };
  /** Flows per second that the machine did, with a peer's part in each. */
  carried: number;
  /** By rate; the last one is the rate that was asked for. */
  latencies: PartLatency[];
  backlog: Backlog;
  concurrency: number;
  /** Load average of the machine over a minute, before and afterwards. */
  loads: readonly number[];
  command: string;
}

/** The report as Markdown, for the terminal and for the file. */
export function writePeersReport(results: PeersResults): string {
  const { loads, command } = results;
  return [
    '# How fast answers reach their owners',
    '',
    'Instances as `npm start` runs them, a process and a database each on one PostgreSQL with full durability. One shows forms in which',
    'others ask; the driver, all instances and PostgreSQL share the machine.',
    '',
    `Machine: ${machine()}. Load average before the run ${loads[0]?.toFixed(1)}, after it ${loads[1]?.toFixed(1)} (a quiet machine begins below 1).`,
    '',
    ...targets(results),
    '',
    ...latency(results),
    '',
    ...costs(results),
    '',
    ...forms(results),
    '',
    ...backlog(results),
    '',
    'What a peer in trouble costs the others: [results-peers-trouble.md](results-peers-trouble.md).',
    '',
    `To reproduce: \`${command}\` (Linux).`,
    '',
  ].join('\n');
}

function targets({ crypto, forms, latencies, backlog }: PeersResults): string[] {
  const { lastSeconds } = backlog;
  return [
    '| | target | measured |',
    '|---|---|---|',
    ...latencies.map(
      ({ rate, delays }) =>
        `| from the click to the COMMIT at the owner, at ${rate} flows per second, p99 | ≤ 250 ms | ${percentile(delays, 0.99).toFixed(0)} ms (p50 ${percentile(delays, 0.5).toFixed(0)} ms) |`,
    ),
    `| CPU of sealing and signing for a part, both sides | ≤ 3 ms | ${sum(crypto).toFixed(2)} ms |`,
    `| form with questions of two peers, beside the same with own ones | ≤ 1.3 | ${mean(forms.ratios).toFixed(2)} (by round ${spread(forms.ratios)}) |`,
    `| ${backlog.parts} parts for a peer that was away, until the last is done | ≤ 60 s | ${lastSeconds === undefined ? 'not done' : `${lastSeconds.toFixed(0)} s`} |`,
    `| parts under way at once | ≤ 4 | ${backlog.most} |`,
  ];
}

function latency({ latencies, carried }: PeersResults): string[] {
  return [
    '**From the click to the COMMIT**. The driver notes when it sends the submission; PostgreSQL when it commits at the owner',
    `(\`pg_xact_commit_timestamp\`); both by one clock. With all flows at once the machine did ${carried.toFixed(0)} per second.`,
    'The part leaves after the subject was answered.',
    '',
    '| begun per second | done per second | flows | the subject was answered after, p50 | p99 | COMMIT at the owner, p50 | p99 | not there a minute later |',
    '|---|---|---|---|---|---|---|---|',
    ...latencies.map(
      ({ rate, reached, flows, answers, delays, missing }) =>
        `| ${rate} | ${reached.toFixed(0)} | ${flows} | ${[answers, delays].map(milliseconds).join(' | ')} | ${missing} |`,
    ),
  ];
}

function milliseconds(times: readonly number[]): string {
  return [0.5, 0.99].map((part) => `${percentile(times, part).toFixed(0)} ms`).join(' | ');
}

function costs({ crypto, cpu: { own, peers, flowsEach }, concurrency }: PeersResults): string[] {
  const each = (all: readonly FlowCpu[], side: 'leader' | 'owner') =>
    (mean(all.map((cpu) => cpu[side])) * 1000) / flowsEach;
  const rate = (all: readonly FlowCpu[]) => mean(all.map(({ flowsPerSecond }) => flowsPerSecond)).toFixed(0);
  return [
    '**CPU**, in milliseconds. Sealing and signing, by the functions themselves:',
    '',
    `| ${Object.keys(names).join(' | ')} |`,
    `|${'---|'.repeat(Object.keys(names).length)}`,
    `| ${Object.values(names)
      .map((name) => crypto[name].toFixed(2))
      .join(' | ')} |`,
    '',
    `A whole flow, ${concurrency} at a time, until the leader knows what became of the part: all that either process does for it, and not PostgreSQL.`,
    '',
    '| two questions | flows per second | leader | owner |',
    '|---|---|---|---|',
    `| both its own | ${rate(own)} | ${each(own, 'leader').toFixed(1)} | ${each(own, 'owner').toFixed(1)} |`,
    `| one its peer's | ${rate(peers)} | ${each(peers, 'leader').toFixed(1)} | ${each(peers, 'owner').toFixed(1)} |`,
  ];
}

const names = {
  'leader: seal': 'seal',
  'sign the request': 'signRequest',
  'verify the receipt': 'verifyReceipt',
  'owner: verify the request': 'verifyRequest',
  open: 'open',
  'sign the receipt': 'signReceipt',
} as const satisfies Record<string, keyof CryptoCost>;

function forms({ forms: { own, peers, forms: shown } }: PeersResults): string[] {
  return [
    `**Forms**: four questions, ${shown} forms of each kind. With two peers there are two more pieces of information on the page.`,
    '',
    '| questions | CPU ms | p50 ms | bytes |',
    '|---|---|---|---|',
    ...Object.entries({ 'all its own': own, 'two of them of two peers': peers }).map(
      ([name, { cpuMs, p50Ms, bytes }]) =>
        `| ${name} | ${cpuMs.toFixed(2)} | ${p50Ms.toFixed(1)} | ${bytes} |`,
    ),
  ];
}

function backlog({
  backlog: { awaySeconds, firstSeconds, memory, cpuMs, stored, parts, stolen = 0 },
}: PeersResults): string[] {
  return [
    `**A peer that was away** for ${awaySeconds.toFixed(0)} s while ${parts} parts queued up: the first was done ${firstSeconds.toFixed(1)} s after it was ready again; ${stored} parts were`,
    'stored there in the end. A server before it counted what was under way. Memory of the leader (resident): ' +
      `${memory.before.toFixed(0)} MB before, ${memory.whole.toFixed(0)} MB`,
    `when all were queued, ${memory.most.toFixed(0)} MB at most while they drained. CPU for a part: leader ${cpuMs.leader.toFixed(1)} ms, owner ${cpuMs.owner.toFixed(1)} ms.`,
    `The host gave ${(stolen * 100).toFixed(0)} % of the time that was needed then to others.`,
  ];
}

function sum(cost: CryptoCost): number {
  return Object.values(cost).reduce((total, each) => total + each, 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0) / values.length;
}
