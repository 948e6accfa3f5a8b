import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { imageOptions } from '../test/infrastructure/image-options.ts';
import { startLocalKafka } from '../test/infrastructure/kafka.ts';
import { startLocalRedis } from '../test/infrastructure/redis.ts';
import { type DistributedResults, writeDistributedReport } from './distributed-report.ts';
import { measureEventLatency } from './event-latency.ts';
import { createHttpClient } from './http-client.ts';
import { prepareDatabases } from './prepare-databases.ts';
import { returningSubject } from './prepare-folder.ts';
import { cpuSeconds } from './process-usage.ts';
import { type Kind, kinds, systems } from './report.ts';
import type { Target } from './run-flow.ts';
import { addPhases, type Phase, runPhase } from './run-phase.ts';
import { startDivided } from './start-divided.ts';
import { startPostgres } from './start-postgres.ts';
import { startServer } from './start-server.ts';
import { startServices } from './start-services.ts';

// Separate services on PostgreSQL, Kafka and Redis beside a bare server on the same PostgreSQL, in one run.
// It asserts nothing: figures are for reading.

const { values: options } = parseArgs({
  options: {
    flows: { type: 'string', default: '15000' },
    rounds: { type: 'string', default: '4' },
    concurrency: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '20' },
    /** Flows per second of the last phase; default: half of what the phases before had. */
    rate: { type: 'string' },
    profiles: { type: 'string' },
    output: { type: 'string', default: fileURLToPath(new URL('results-distributed.md', import.meta.url)) },
  },
});
const rounds = Number(options.rounds);
const concurrency = Number(options.concurrency);
/** Flows of one kind against one server in one round; the warm-up is a round too. */
const flowsEach = Math.ceil(Number(options.flows) / kinds.length / (rounds + 1));
const returningSubjects = Math.min(flowsEach, 1_000);

/**
 * Beside Accord and the bare server the latter once more, divided as Accord is: what it costs to be several,
 * whatever they do.
 */
const contenders = [...systems, 'divided'] as const;
type Contender = (typeof contenders)[number];
type Measured = Omit<DistributedResults['phases'][number], 'system'> & { system: Contender };
type Contestant = Target & { pids: readonly number[] };

const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}
let orders = 0;

try {
  const report = writeDistributedReport(await measure());
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const part of parts.reverse()) await part.stop();
}

async function measure(): Promise<DistributedResults> {
  const loadBefore = loadavg()[0] ?? 0;
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  say('starting PostgreSQL, Kafka and Redis');
  const postgres = keep(await startPostgres());
  const kafka = keep(await startLocalKafka());
  const redis = keep(await startLocalRedis());
  const wanted = readTopics(new URL('../asyncapi.yaml', import.meta.url));
  await createTopics({ brokers: [kafka.address], wanted });
  const prepared = await prepareDatabases({ postgres, folder, returningSubjects });
  say('starting the services and the bare server');
  const services = keep(
    await startServices(
      {
        DATABASE_URL: prepared.accordUrl.replace('accord@', ''),
        KAFKA_BROKERS: kafka.address,
        REDIS_URL: redis.address,
        SECRETS_DIR: prepared.secretsDir,
        RATE_LIMITS: 'off',
        MAX_EVENT_LOOP_DELAY: '0',
        LOG_LEVEL: 'warn',
        STOP_DELAY: '0',
      },
      options.profiles,
    ),
  );
  const bare = keep(
    await startServer(
      'bench/baseline-server.ts',
      { DATABASE_URL: prepared.bareUrl, SAMPLES: prepared.samples },
      imageOptions,
    ),
  );
  const divided = keep(
    await startDivided({ databaseUrl: prepared.dividedUrl, samples: prepared.samples, wanted }),
  );
  const { key } = prepared;
  const contestants: Record<Contender, Contestant> = {
    Accord: { key, client: connect(services.ports.transactions ?? 0), pids: Object.values(services.pids) },
    bare: { key, client: connect(bare.port), pids: [bare.pid] },
    divided: { key, client: connect(divided.port), pids: divided.pids },
  };
  const before = cpuByService(services.pids);
  const all = await compare(contestants);
  const phases = all.flatMap(({ system, ...phase }) => (system === 'divided' ? [] : [{ ...phase, system }]));
  const after = cpuByService(services.pids);
  const own = addPhases(phases.filter(({ system }) => system === 'Accord').map(({ phase }) => phase));
  const rate = Number(options.rate ?? own.flows / own.seconds / 2);
  say(`event latency at ${rate.toFixed(0)} flows per second`);
  const events = await measureEventLatency(contestants.Accord, {
    brokers: [kafka.address],
    rate,
    seconds: Number(options.seconds),
    firstOrder: orders,
  });
  return {
    divided: all.filter(({ system }) => system === 'divided').map(({ phase }) => phase),
    phases,
    events,
    concurrency,
    loads: [loadBefore, loadavg()[0] ?? 0],
    flows: rounds * kinds.length * flowsEach,
    shares: Object.fromEntries(
      Object.keys(services.pids).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]),
    ),
    command: ['npm run bench:distributed --', ...process.argv.slice(2)].join(' '),
  };
}

/** In turn, and each first as often as second. */
async function compare(contestants: Record<Contender, Contestant>): Promise<Measured[]> {
  const phases: Measured[] = [];
  for (let round = 0; round <= rounds; round += 1)
    for (const kind of kinds)
      for (const system of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const phase = await run(contestants[system], kind);
        if (round > 0) phases.push({ system, kind, round, phase });
        const cost = ((phase.cpuSeconds / phase.flows) * 1000).toFixed(2);
        say(`round ${round} of ${rounds}, ${kind}, ${system}: ${cost} CPU seconds per 1,000 flows`);
      }
  return phases;
}

function run(contestant: Contestant, kind: Kind): Promise<Phase> {
  const first = orders;
  orders += flowsEach;
  return runPhase(contestant, {
    flows: flowsEach,
    concurrency,
    subjectOf: (flow) => ({
      subject: kind === 'new' ? `new-${first + flow}` : returningSubject(flow % returningSubjects),
      order: first + flow,
    }),
  });
}

function connect(port: number) {
  const client = createHttpClient({ port, connections: 64 });
  keep({ stop: async () => client.close() });
  return client;
}

function cpuByService(pids: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid)]));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
