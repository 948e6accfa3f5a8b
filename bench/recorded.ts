import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { fillTables } from './fill-tables.ts';
import { createHttpClient, type HttpClient, type Reply } from './http-client.ts';
import { seedDatabase } from './prepare-databases.ts';
import { cpuSecondsWithChildren } from './process-usage.ts';
import { machine } from './report.ts';
import { percentile } from './run-phase.ts';
import { type BenchPostgres, startPostgres } from './start-postgres.ts';
import { type ServerProcess, startServer } from './start-server.ts';

// What one recorded consent costs, server and PostgreSQL together: by Accord (validated, receipt signed,
// logged, event queued), by a bare Koa + pg server, and by @c15t/backend, which stores it without a receipt.
// Each has a PostgreSQL of its own with full durability; they are measured in turn, beside few persons and
// beside many. It asserts nothing: figures are for reading.

const { values: options } = parseArgs({
  options: {
    persons: { type: 'string', default: '20000,1000000' },
    consents: { type: 'string', default: '1500' },
    rounds: { type: 'string', default: '4' },
    concurrency: { type: 'string', default: '8' },
    output: { type: 'string', default: fileURLToPath(new URL('results-recorded.md', import.meta.url)) },
  },
});
const [consents, rounds, concurrency] = [options.consents, options.rounds, options.concurrency].map(
  Number,
) as [number, number, number];
/** With ten records, their transactions and indexes. */
const bytesPerPerson = 30_000;
const rival = { '@c15t/backend': '2.2.1', kysely: '0.29.9', pg: '8.23.1' };
const letter = 'element/processing/processing.001/1.0';

interface Contestant {
  name: 'Accord' | 'bare' | 'c15t';
  postgres: BenchPostgres;
  server: ServerProcess;
  client: HttpClient;
  record(client: HttpClient, person: number): Promise<Reply>;
  cost: { server: number; postgres: number; count: number; times: number[] };
}

const folder = await mkdtemp(path.join(tmpdir(), 'accord-recorded-'));
const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}
const json = { 'Content-Type': 'application/json' };

const record = (key: string): Contestant['record'] => {
  const headers = { CM_KEY: key, ...json };
  return async (client, person) => {
    const context = { subject: `recorded ${person}`, layoutData: { elements: ['processing.001'] } };
    const body = JSON.stringify({ context, values: { [letter]: ['accepted'] } });
    return client.post('/consents/singlestep', headers, body);
  };
};

let persons = 0;
const loadBefore = loadavg()[0] ?? 0;

try {
  const rows: string[] = [];
  for (const count of options.persons.split(',').map(Number)) {
    const contestants = [await enterAccord(count), await enterBare(count), await enterRival(count)];
    for (let round = 0; round <= rounds; round += 1)
      for (const each of round % 2 === 0 ? contestants : contestants.toReversed()) await run(each, round);
    rows.push(...contestants.map((each) => rowOf(each, count)));
    for (const part of parts.splice(0).reverse()) await part.stop();
  }
  const report = [
    '# What a recorded consent costs',
    '',
    'One call, `POST /consents/singlestep`, by Accord as `npm start` runs it: authenticated, validated against models and rules, receipt signed,',
    'position and audit log written, event queued. The bare server (`bench/baseline-server.ts`) executes the same kind of statements without any of',
    `that. [@c15t/backend](https://www.npmjs.com/package/@c15t/backend) ${rival['@c15t/backend']} stores a consent by \`POST /subjects\` without a receipt, behind \`node:http\`, with its`,
    "documentation's adapter (kysely). Each has a PostgreSQL of its own with full durability; all are measured in turn in one run.",
    '',
    `Machine: ${machine()}. Load average before the run ${loadBefore.toFixed(1)}.`,
    `${consents * rounds} consents each by new persons, ${concurrency} at a time, after a round to warm up. Repeat with \`npm run bench -- recorded\`.`,
    '',
    '| persons before | | CPU ms a consent: server | PostgreSQL | together | p50 ms | p99 ms |',
    '|---:|---|---:|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n');
  await writeFile(options.output, report);
  process.stdout.write(report);
} finally {
  for (const part of parts.reverse()) await part.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(
  { name, postgres, server, client, record, cost }: Contestant,
  round: number,
): Promise<void> {
  const [atServer, atPostgres] = [cpuSecondsWithChildren(server.pid), cpuSecondsWithChildren(postgres.pid)];
  let left = consents;
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left > 0) {
        left -= 1;
        persons += 1;
        const began = performance.now();
        const { status, body } = await record(client, persons);
        if (status >= 300) throw new Error(`${name} answered with ${status}: ${body}`);
        times.push(performance.now() - began);
      }
    }),
  );
  // The first round warms up.
  if (round === 0) return;
  cost.server += cpuSecondsWithChildren(server.pid) - atServer;
  cost.postgres += cpuSecondsWithChildren(postgres.pid) - atPostgres;
  cost.count += consents;
  cost.times.push(...times);
}

function rowOf({ name, cost }: Contestant, count: number): string {
  const ms = (seconds: number) => ((seconds * 1000) / cost.count).toFixed(2);
  const figures = [cost.server, cost.postgres, cost.server + cost.postgres].map(ms);
  const times = cost.times.toSorted((a, b) => a - b);
  const latencies = [0.5, 0.99].map((share) => percentile(times, share).toFixed(1));
  return `| ${count.toLocaleString('en')} | ${name} | ${[...figures, ...latencies].join(' | ')} |`;
}

function enter(
  name: Contestant['name'],
  made: Pick<Contestant, 'postgres' | 'server' | 'record'>,
): Contestant {
  const client = createHttpClient({ port: made.server.port, connections: concurrency });
  keep({ stop: async () => client.close() });
  return { name, client, cost: { server: 0, postgres: 0, count: 0, times: [] }, ...made };
}

/** A database as years of use would leave it. */
async function prepare(count: number, name: string) {
  const postgres = keep(await startPostgres({}, count * bytesPerPerson));
  const url = await postgres.createDatabase('consents');
  const own = path.join(folder, `${name}-${count}`);
  const secretsDir = path.join(own, 'secrets');
  const { key, ...pages } = await seedDatabase({ url, folder: own, secretsDir });
  await fillTables(postgres.adminUrl('consents'), count * 10, true);
  const samples = path.join(folder, 'samples.json');
  await writeFile(samples, JSON.stringify(pages));
  return { postgres, url, own, secretsDir, key, samples };
}

async function enterAccord(count: number): Promise<Contestant> {
  const { postgres, url, own, secretsDir, key } = await prepare(count, 'accord');
  const settings = { DATABASE_URL: url, DATA_DIR: own, SECRETS_DIR: secretsDir, PORT: '0' };
  const server = keep(
    await startServer('services/standalone.ts', {
      ...settings,
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'warn',
      STOP_DELAY: '0',
    }),
  );
  return enter('Accord', { postgres, server, record: record(key) });
}

async function enterBare(count: number): Promise<Contestant> {
  const { postgres, url, key, samples } = await prepare(count, 'bare');
  const server = keep(await startServer('bench/baseline-server.ts', { DATABASE_URL: url, SAMPLES: samples }));
  return enter('bare', { postgres, server, record: record(key) });
}

async function enterRival(count: number): Promise<Contestant> {
  const own = path.join(folder, 'rival');
  await promisify(execFile)('mkdir', ['-p', own]);
  await writeFile(path.join(own, 'package.json'), JSON.stringify({ private: true, dependencies: rival }));
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: own });
  await copyFile(path.join(import.meta.dirname, 'rival/server.mjs'), path.join(own, 'server.mjs'));
  const postgres = keep(await startPostgres({}, count * bytesPerPerson));
  const url = await postgres.createDatabase('consents');
  const child = spawn(process.execPath, [path.join(own, 'server.mjs')], {
    env: { PATH: process.env.PATH, DATABASE_URL: url, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    if (said.includes('is ready')) break;
  }
  const server = keep({
    pid: child.pid as number,
    port: Number(/localhost:(\d+)/.exec(said)?.[1]),
    readyMs: 0,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  });
  const made = enter('c15t', {
    postgres,
    server,
    async record(client, person) {
      const body = JSON.stringify({
        type: 'cookie_banner',
        subjectId: `sub_2fgaQWJMcc1TDA${String(person).padStart(8, '1').replaceAll('0', 'z')}`,
        domain: 'example.com',
        preferences: { necessary: true, marketing: false },
        givenAt: Date.now(),
        metadata: {},
      });
      return client.post('/subjects', { ...json, Origin: 'http://localhost' }, body);
    },
  });
  await made.record(made.client, 0);
  await postgres.run(
    'consents',
    `INSERT INTO subject SELECT (json_populate_record(s, json_build_object('id', 'sub_filled' || n))).*
       FROM subject AS s, generate_series(1, ${count}) AS n`,
  );
  await postgres.run(
    'consents',
    `INSERT INTO consent SELECT (json_populate_record(c, json_build_object(
              'id', 'cns_filled' || n, 'subjectId', 'sub_filled' || n))).*
       FROM consent AS c, generate_series(1, ${count}) AS n`,
  );
  await postgres.run('consents', 'VACUUM ANALYZE');
  return made;
}
