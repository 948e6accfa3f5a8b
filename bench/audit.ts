import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { seedDatabase } from './prepare-databases.ts';
import { cpuSeconds } from './process-usage.ts';
import { runFlow } from './run-flow.ts';
import { startPostgres } from './start-postgres.ts';
import { type ServerProcess, startServer } from './start-server.ts';

// What the audit log adds to a flow: CPU time of Accord and of PostgreSQL per flow, in this checkout and in
// another one (`--against <folder>`, with node_modules), in turns on one machine. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    against: { type: 'string' },
    flows: { type: 'string', default: '600' },
    rounds: { type: 'string', default: '6' },
    concurrency: { type: 'string', default: '4' },
  },
});
const flows = Number(options.flows);
const rounds = Number(options.rounds);
const concurrency = Number(options.concurrency);
/** The sealer works every two seconds; its share of a round belongs to the round. */
const sealedMs = 2_500;

interface Contestant {
  name: string;
  program: string;
}

/** CPU milliseconds per flow. */
interface Cost {
  accord: number;
  postgres: number;
}

const here: Contestant = { name: 'this checkout', program: 'services/standalone.ts' };
const contestants: readonly Contestant[] = options.against
  ? [
      here,
      {
        name: options.against,
        program: path.relative(
          path.join(import.meta.dirname, '..'),
          path.join(options.against, 'services/standalone.ts'),
        ),
      },
    ]
  : [here];

const measured: Cost[][] = [];
for (let round = 0; round <= rounds; round += 1) {
  const order = round % 2 === 0 ? contestants : contestants.toReversed();
  const costs = new Map<Contestant, Cost>();
  for (const contestant of order) costs.set(contestant, await measure(contestant));
  // The first round is the warm-up.
  if (round === 0) continue;
  measured.push(contestants.map((each) => costs.get(each) as Cost));
  process.stderr.write(`round ${round} of ${rounds}: ${JSON.stringify(measured.at(-1))}\n`);
}
report();

/**
 * Starts PostgreSQL and the server for each measurement, because PostgreSQL's processes can be counted only
 * while they run.
 */
async function measure({ program }: Contestant): Promise<Cost> {
  const parts: { stop(): Promise<unknown> }[] = [];
  const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    parts.push(part);
    return part;
  };
  try {
    const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
    keep({ stop: () => rm(folder, { recursive: true, force: true }) });
    const secretsDir = path.join(folder, 'secrets');
    const postgres = keep(await startPostgres());
    const url = await postgres.createDatabase('audit');
    const { key } = await seedDatabase({ url, folder, secretsDir });
    const [backend] = await postgres.run<{ pid: number }>(
      'audit',
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
    );
    const settings = { DATABASE_URL: url, DATA_DIR: folder, SECRETS_DIR: secretsDir, LOG_LEVEL: 'error' };
    const limits = { PORT: '0', RATE_LIMITS: 'off', MAX_EVENT_LOOP_DELAY: '0', STOP_DELAY: '0' };
    const accord = keep(await startServer(program, { ...settings, ...limits }));
    const client = createHttpClient({ port: accord.port, connections: concurrency });
    keep({ stop: async () => client.close() });
    const postmaster = await parentOf(backend?.pid ?? 0);
    return await walkFlows({ accord, client, key, postmaster });
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}

async function walkFlows(run: {
  accord: ServerProcess;
  client: HttpClient;
  key: string;
  postmaster: number;
}): Promise<Cost> {
  const { accord, client, key, postmaster } = run;
  let next = 0;
  const walk = async (until: number) => {
    while (next < until) {
      next += 1;
      await runFlow({ client, key }, { subject: `person-${next}`, order: next }, () => {});
    }
  };
  const walkAll = (until: number) => Promise.all(Array.from({ length: concurrency }, () => walk(until)));
  await walkAll(flows / 2);
  const [accordBefore, postgresBefore] = [cpuSeconds(accord.pid), await cpuOfTree(postmaster)];
  await walkAll(flows / 2 + flows);
  await new Promise((done) => setTimeout(done, sealedMs));
  const perFlow = (seconds: number) => (seconds * 1000) / flows;
  return {
    accord: perFlow(cpuSeconds(accord.pid) - accordBefore),
    postgres: perFlow((await cpuOfTree(postmaster)) - postgresBefore),
  };
}

async function parentOf(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1]);
}

/** CPU seconds of a process and its children that run now. */
async function cpuOfTree(parent: number): Promise<number> {
  let sum = cpuSeconds(parent);
  for (const name of await readdir('/proc'))
    if (/^\d+$/.test(name) && (await parentOf(Number(name)).catch(() => 0)) === parent)
      sum += cpuSeconds(Number(name));
  return sum;
}

function report(): void {
  const median = (values: readonly number[]) =>
    values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
  const total = ({ accord, postgres }: Cost) => accord + postgres;
  const print = (line: string) => process.stdout.write(`${line}\n`);
  print('| | Accord, CPU ms per flow | PostgreSQL | both |\n|---|---|---|---|');
  for (const [place, { name }] of contestants.entries()) {
    const of = (value: (cost: Cost) => number) =>
      median(measured.map((round) => value(round[place] as Cost))).toFixed(2);
    print(`| ${name} | ${of(({ accord }) => accord)} | ${of(({ postgres }) => postgres)} | ${of(total)} |`);
  }
  if (contestants.length < 2) return;
  const ratios = measured.map(([mine, other]) => total(mine as Cost) / total(other as Cost));
  print(`this checkout beside the other, by round: ${ratios.map((ratio) => ratio.toFixed(3)).join(', ')}`);
  print(`median: ${median(ratios).toFixed(3)}`);
}
