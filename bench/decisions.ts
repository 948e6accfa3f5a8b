import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type RatedPhase, ratesTable, runAtRates } from './decisions-replicas.ts';
import { filledSubjects, fillRecords } from './fill-tables.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { seedDatabase } from './prepare-databases.ts';
import { cpuSeconds, watchStolen } from './process-usage.ts';
import { percentile } from './run-phase.ts';
import { startPostgres } from './start-postgres.ts';
import { type ServerProcess, startServer } from './start-server.ts';

// Decisions per CPU second, beside a bare server with the same statement on the same tables, and beside a
// subject with very many records; then two replicas at fixed rates. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    heavy: { type: 'string', default: '300000' },
    requests: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '4' },
    concurrency: { type: 'string', default: '8' },
    rates: { type: 'string', default: '500,700,1000' },
    'rate-rounds': { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    output: { type: 'string', default: fileURLToPath(new URL('results-decisions.md', import.meta.url)) },
  },
});
const requests = Number(options.requests);
const rounds = Number(options.rounds);
const concurrency = Number(options.concurrency);

interface Contestant {
  name: string;
  server: ServerProcess;
  client: HttpClient;
  subjectOf: (request: number) => string;
  measured: { perCpuSecond: number; perSecond: number }[];
  times: number[];
}

/** One subject with many answers to one element. */
const heavySubject = `
  INSERT INTO transactions.records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value,
                                    positions, state, origin, author, created_at, committed_at, expires_at,
                                    from_position, from_at, until_position, until_at)
  SELECT gen_random_uuid(), s.transaction, 'heavy', '', s.key, s.type, s.serial, s.info_key, s.info_serial, s.value,
         s.positions, s.state, s.origin, s.author, t.at, t.at, now() + interval '1 year',
         $1 - t.n + 1, t.at, CASE WHEN t.n > 1 THEN $1 - t.n + 2 END, CASE WHEN t.n > 1 THEN t.at + interval '1 minute' END
    FROM (SELECT r.* FROM transactions.records AS r
           WHERE r.subject = 'sample' AND r.key = 'processing.001' LIMIT 1) AS s,
         (SELECT n, now() - n * interval '1 minute' AS at FROM generate_series(1, $1::int) AS n) AS t`;

const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}

try {
  const report = await measure();
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const part of parts.reverse()) await part.stop();
}

async function measure(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const secretsDir = path.join(folder, 'secrets');
  const postgres = keep(await startPostgres());
  const url = await postgres.createDatabase('decisions');
  const { key } = await seedDatabase({ url, folder, secretsDir });
  await postgres.run('decisions', heavySubject, [Number(options.heavy)]);
  const filling = performance.now();
  await fillRecords(postgres.adminUrl('decisions'), Number(options.records));
  const filled = (performance.now() - filling) / 1000;
  const settings = { DATABASE_URL: url, DATA_DIR: folder, SECRETS_DIR: secretsDir, LOG_LEVEL: 'warn' };
  const limits = { PORT: '0', RATE_LIMITS: 'off', MAX_EVENT_LOOP_DELAY: '0', STOP_DELAY: '0' };
  const accord = keep(await startServer('services/standalone.ts', { ...settings, ...limits }));
  const bare = keep(
    await startServer('bench/baseline-decisions-server.ts', { DATABASE_URL: postgres.adminUrl('decisions') }),
  );
  const enter = (name: string, server: ServerProcess, subjectOf: Contestant['subjectOf']): Contestant => {
    const client = createHttpClient({ port: server.port, connections: concurrency });
    keep({ stop: async () => client.close() });
    return { name, server, client, subjectOf, measured: [], times: [] };
  };
  const subjects = filledSubjects(Number(options.records));
  const anyone = (request: number) => `filled-${(request * 7919) % subjects}`;
  const contestants = [
    enter('Accord', accord, anyone),
    enter('bare Koa and pg, same statement', bare, anyone),
    enter(`Accord, a subject with ${options.heavy} records`, accord, () => 'heavy'),
  ];
  const stolen = watchStolen();
  for (let round = 0; round <= rounds; round += 1)
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const { times, ...measured } = await run(contestant, key);
      if (round === 0) continue; // The first round is the warm-up.
      contestant.measured.push(measured);
      contestant.times.push(...times);
    }
  const share = stolen();
  for (const { stop } of [accord, bare]) await stop();
  const rates = options.rates.split(',').map(Number);
  const seconds = Number(options.seconds);
  const asked = {
    settings: { ...settings, ...limits },
    bare: { DATABASE_URL: postgres.adminUrl('decisions') },
  };
  const rated = await runAtRates(
    asked,
    { rates, rounds: Number(options['rate-rounds']), seconds },
    async (client, request) => {
      const { status } = await client.post('/decisions', headersOf(key), questionAbout(anyone(request)));
      return status;
    },
  );
  return report(contestants, rated, { filled, stolen: share });
}

function headersOf(key: string) {
  return { CM_KEY: key, 'Content-Type': 'application/json' };
}

function questionAbout(subject: string): string {
  return JSON.stringify({ subject, questions: [{ element: 'processing.001' }] });
}

async function run({ server, client, subjectOf }: Contestant, key: string) {
  const headers = headersOf(key);
  const times: number[] = [];
  const [cpuBefore, started] = [cpuSeconds(server.pid), performance.now()];
  let next = 0;
  const ask = async () => {
    while (next < requests) {
      next += 1;
      const body = questionAbout(subjectOf(next));
      const sent = performance.now();
      const { status } = await client.post('/decisions', headers, body);
      if (status !== 200) throw new Error(`A question was answered with ${status}.`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, ask));
  const seconds = (performance.now() - started) / 1000;
  return {
    perCpuSecond: requests / (cpuSeconds(server.pid) - cpuBefore),
    perSecond: requests / seconds,
    times,
  };
}

function report(
  contestants: readonly Contestant[],
  rated: readonly RatedPhase[],
  { filled, stolen }: { filled: number; stolen: number | undefined },
): string {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const costOf = ({ measured }: Contestant) => mean(measured.map(({ perCpuSecond }) => perCpuSecond));
  const [accord, bare, heavy] = contestants as [Contestant, Contestant, Contestant];
  const rows = contestants.map((each) =>
    [
      each.name,
      costOf(each).toFixed(0),
      mean(each.measured.map(({ perSecond }) => perSecond)).toFixed(0),
      percentile(each.times, 0.5).toFixed(1),
      percentile(each.times, 0.99).toFixed(1),
    ].join(' | '),
  );
  const command = ['npm run bench:decisions --', ...process.argv.slice(2)].join(' ').trim();
  return `# Decisions

\`${command}\`, Node.js ${process.versions.node}. ${options.records} records, ${rounds} rounds of ${requests} questions, ${concurrency} at a time, from this
machine too (${availableParallelism()} processors); one process of each server. The tables were filled in ${filled.toFixed(0)} s. The host took ${stolen === undefined ? 'an unknown share' : `${(stolen * 100).toFixed(0)} %`} of the processors' time.

| Server | decisions per CPU second | per second | p50 ms | p99 ms |
|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}

- Accord beside the bare server, per CPU second: **${(costOf(accord) / costOf(bare)).toFixed(2)}** (0.5 wanted).
- A subject with ${options.heavy} records beside others: **${(costOf(heavy) / costOf(accord)).toFixed(2)}** (no slower wanted).

## Two replicas at a fixed rate

Two processes on the same database with Kafka and two of the bare server, which do not use Kafka, in turn, ${options['rate-rounds']} rounds of ${options.seconds} seconds at each rate; times from the moment at which a
question was due, medians of the rounds. PostgreSQL, Kafka and the asking program use the same processors.

${ratesTable(rated)}

Wanted: 2,000 a second at p99 ≤ 20 ms on four processors for Accord and PostgreSQL.
`;
}
