import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startInstance } from '../services/start-instance.ts';
import { filledSubjects, fillTables } from './fill-tables.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { seedDatabase } from './prepare-databases.ts';
import { cpuSeconds } from './process-usage.ts';
import { type ReadPlan, readPlans } from './read-plans.ts';
import { type RecordsPhase, type RecordsResults, writeRecordsReport } from './records-report.ts';
import { runPhase } from './run-phase.ts';
import { type BenchPostgres, startPostgres } from './start-postgres.ts';
import { type ServerProcess, startServer } from './start-server.ts';
import { walkRequests } from './walk-requests.ts';

// What a flow costs beside few and beside many records, and whether every statement on its way has an index.
// It fails if one has none; the costs are for reading.

const { values: options } = parseArgs({
  options: {
    few: { type: 'string', default: '10000' },
    many: { type: 'string', default: '1000000' },
    flows: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '4' },
    concurrency: { type: 'string', default: '8' },
    output: { type: 'string', default: fileURLToPath(new URL('results-records.md', import.meta.url)) },
  },
});
const rounds = Number(options.rounds);
const flowsEach = Number(options.flows);

interface Contestant {
  records: number;
  database: string;
  url: string;
  server: ServerProcess;
  client: HttpClient;
}

const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}
let orders = 0;

try {
  const results = await measure();
  const report = writeRecordsReport(results);
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
  if (results.plans.some(({ readWhole }) => readWhole.length > 0)) process.exitCode = 1;
} finally {
  for (const part of parts.reverse()) await part.stop();
}

async function measure(): Promise<RecordsResults> {
  const loadBefore = loadavg()[0] ?? 0;
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const secretsDir = path.join(folder, 'secrets');
  const postgres = keep(await startPostgres());
  const seed = await postgres.createDatabase('seed');
  const { key } = await seedDatabase({ url: seed, folder, secretsDir });
  const sizes = [Number(options.few), Number(options.many)];
  const contestants: Contestant[] = [];
  for (const records of sizes) contestants.push(await fill(postgres, { records, folder, secretsDir }));
  const phases: RecordsPhase[] = [];
  for (let round = 0; round <= rounds; round += 1)
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const phase = await run(postgres, contestant, key);
      if (round > 0) phases.push({ ...phase, round });
      say(`round ${round} of ${rounds}, ${contestant.records} records: ${phase.cost.toFixed(2)} CPU seconds`);
    }
  const many = contestants.at(-1) as Contestant;
  await many.server.stop();
  const plans = await explain(many, { key, folder, secretsDir });
  return {
    phases,
    sizes,
    plans,
    flows: rounds * flowsEach,
    loads: [loadBefore, loadavg()[0] ?? 0],
    command: ['npm run bench -- records', ...process.argv.slice(2)].join(' '),
  };
}

interface Size {
  records: number;
  folder: string;
  secretsDir: string;
}

async function fill(postgres: BenchPostgres, { records, folder, secretsDir }: Size): Promise<Contestant> {
  const database = `records_${records}`;
  const url = await postgres.createDatabase(database, 'seed');
  const started = performance.now();
  await fillTables(postgres.adminUrl(database), records, true);
  say(`${records} records written in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const server = keep(await startServer('services/standalone.ts', settingsOf(url, folder, secretsDir)));
  const client = createHttpClient({ port: server.port, connections: Number(options.concurrency) });
  keep({ stop: async () => client.close() });
  return { records, database, url, server, client };
}

/**
 * Half of the subjects are new, the others have answered before. The cost is that of the server and of its
 * database connections.
 */
async function run(
  postgres: BenchPostgres,
  { records, database, server, client }: Contestant,
  key: string,
): Promise<Omit<RecordsPhase, 'round'>> {
  const first = orders;
  orders += flowsEach;
  const before = await connectionsOf(postgres, database);
  const phase = await runPhase(
    { client, key, pids: [server.pid] },
    {
      flows: flowsEach,
      concurrency: Number(options.concurrency),
      subjectOf: (flow) => ({
        subject: flow % 2 ? `new-${first + flow}` : `filled-${(flow * 7919) % filledSubjects(records)}`,
        order: first + flow,
      }),
    },
  );
  const after = await connectionsOf(postgres, database);
  const postgresCpu = [...after].reduce((sum, [pid, cpu]) => sum + cpu - (before.get(pid) ?? 0), 0);
  return { records, phase, postgresCpu, cost: phase.cpuSeconds + postgresCpu };
}

/** CPU seconds of the processes of PostgreSQL that serve connections, which pools keep open. */
async function connectionsOf(postgres: BenchPostgres, database: string): Promise<Map<number, number>> {
  const rows = await postgres.run<{ pid: number }>(
    database,
    `SELECT a.pid FROM pg_stat_activity AS a
      WHERE a.datname = $1 AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()`,
    [database],
  );
  return new Map(rows.map(({ pid }) => [pid, cpuSeconds(pid)]));
}

/** The statements of an instance in this process, on the many records. */
async function explain(
  { url }: Contestant,
  { key, folder, secretsDir }: { key: string; folder: string; secretsDir: string },
): Promise<ReadPlan[]> {
  const instance = keep(await startInstance(settingsOf(url, folder, secretsDir)));
  const client = createHttpClient({ port: Number(new URL(instance.baseUrl).port), connections: 1 });
  keep({ stop: async () => client.close() });
  return readPlans(url, () => walkRequests({ client, key }, 'filled-1'));
}

function settingsOf(url: string, folder: string, secretsDir: string): Record<string, string> {
  return {
    DATABASE_URL: url,
    DATA_DIR: folder,
    SECRETS_DIR: secretsDir,
    PORT: '0',
    RATE_LIMITS: 'off',
    MAX_EVENT_LOOP_DELAY: '0',
    LOG_LEVEL: 'warn',
    STOP_DELAY: '0',
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
