import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { startLocalKafka } from '../test/infrastructure/kafka.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { cpuSeconds } from './process-usage.ts';
import { percentile } from './run-phase.ts';
import { startServer } from './start-server.ts';

/** Questions at one rate. */
export interface RatedPhase {
  server: string;
  wanted: number;
  /** Answers per second. */
  answered: number;
  p50: number;
  p99: number;
  failed: number;
  /** Processors that both replicas used together. */
  processors: number;
  /** Processors that this program used to ask. */
  asking: number;
}

/** Before anything is measured, each server is asked at the highest rate, so that its code is compiled. */
const warmUpSeconds = 10;

const replicas = 2;
/** Connections to each replica, as a router keeps them. */
const connections = 64;

/**
 * Asks two processes of Accord on one database, in turn, at fixed rates, and at each rate also two of the
 * bare server. A question counts from the moment it was due, so that a server that falls behind is seen to.
 * @param bare settings of the bare server. @param ask sends a question. @returns its HTTP status.
 * @returns one phase for each server, rate and round.
 */
export async function runAtRates(
  { settings, bare }: Record<'settings' | 'bare', Record<string, string>>,
  { rates, rounds, seconds }: { rates: readonly number[]; rounds: number; seconds: number },
  ask: (client: HttpClient, request: number) => Promise<number>,
): Promise<RatedPhase[]> {
  const parts: { stop(): Promise<unknown> }[] = [];
  const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    parts.push(part);
    return part;
  };
  try {
    const kafka = keep(await startLocalKafka());
    const wanted = readTopics(new URL('../asyncapi.yaml', import.meta.url));
    await createTopics({ brokers: [kafka.address], wanted });
    const start = async () => {
      const port = String(await freePort());
      const own = { PORT: port, BASE_URL: `http://localhost:${port}`, KAFKA_BROKERS: kafka.address };
      return keep(await startServer('services/standalone.ts', { ...settings, ...own, LOG_LEVEL: 'error' }));
    };
    const startBare = async () => keep(await startServer('bench/baseline-decisions-server.ts', bare));
    const contestants: Target[] = [];
    for (const [server, launch] of [
      ['Accord', start],
      ['bare', startBare],
    ] as const) {
      const servers = await Promise.all(Array.from({ length: replicas }, launch));
      const clients = servers.map(({ port }) => createHttpClient({ port, connections }));
      keep({ stop: async () => clients.forEach((client) => void client.close()) });
      contestants.push({ server, clients, pids: servers.map(({ pid }) => pid), ask });
    }
    for (const each of contestants) await askAtRate(each, Math.max(...rates), warmUpSeconds);
    const phases: RatedPhase[] = [];
    for (const rate of rates)
      for (let round = 0; round < rounds; round += 1)
        for (const each of round % 2 === 0 ? contestants : contestants.toReversed())
          phases.push(await askAtRate(each, rate, seconds));
    return phases;
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}

interface Target {
  server: string;
  clients: readonly HttpClient[];
  pids: readonly number[];
  ask: (client: HttpClient, request: number) => Promise<number>;
}

async function askAtRate(
  { server, clients, pids, ask }: Target,
  rate: number,
  seconds: number,
): Promise<RatedPhase> {
  const cpu = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const [started, cpuBefore, ownBefore] = [performance.now(), cpu(), process.cpuUsage()];
  const times: number[] = [];
  let failed = 0;
  const send = async (request: number, due: number) => {
    const client = clients[request % clients.length] as HttpClient;
    const status = await ask(client, request).catch(() => 0);
    if (status === 200) times.push(performance.now() - due);
    else failed += 1;
  };
  const sent: Promise<void>[] = [];
  for (let request = 0; request < rate * seconds; ) {
    const due = started + (request / rate) * 1000;
    if (performance.now() < due) await pause(1);
    else {
      sent.push(send(request, due));
      request += 1;
    }
  }
  await Promise.all(sent);
  const took = (performance.now() - started) / 1000;
  const own = process.cpuUsage(ownBefore);
  return {
    server,
    wanted: rate,
    answered: times.length / took,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    failed,
    processors: (cpu() - cpuBefore) / took,
    asking: (own.user + own.system) / 1e6 / took,
  };
}

/** One row for each server and rate: medians of the rounds, and the p99 of each round. */
export function ratesTable(phases: readonly RatedPhase[]): string {
  const groups = Map.groupBy(phases, ({ server, wanted }) => `${server} | ${wanted}`);
  const rows = [...groups].map(([name, rounds]) => {
    const median = (of: (phase: RatedPhase) => number) => percentile(rounds.map(of), 0.5);
    const cells = [
      name,
      median(({ answered }) => answered).toFixed(0),
      median(({ p50 }) => p50).toFixed(1),
      median(({ p99 }) => p99).toFixed(1),
      rounds.map(({ p99 }) => p99.toFixed(1)).join(', '),
      rounds.reduce((sum, { failed }) => sum + failed, 0),
      median(({ processors }) => processors).toFixed(2),
      median(({ asking }) => asking).toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `| server | questions per second | answered per second | p50 ms | p99 ms | p99 of each round | failed | processors of the two | of the asking program |
|---|---:|---:|---:|---:|---|---:|---:|---:|
${rows.join('\n')}`;
}
