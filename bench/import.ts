import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createHttpClient } from './http-client.ts';
import { seedDatabase } from './prepare-databases.ts';
import { startPostgres } from './start-postgres.ts';
import { startServer } from './start-server.ts';

// How long the import of many answers takes, and what submissions wait meanwhile: submissions are sent at a
// steady rate, first alone and then beside the import.

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
    /** Rows of a request, and how much longer than a request the pause after it takes: as the program. */
    chunk: { type: 'string', default: '400' },
    pause: { type: 'string', default: '2' },
    output: { type: 'string', default: fileURLToPath(new URL('results-import.md', import.meta.url)) },
  },
});
const [rows, rate, seconds] = [options.rows, options.rate, options.seconds].map(Number) as [
  number,
  number,
  number,
];
const before = loadavg()[0] ?? 0;
const [chunk, pause] = [Number(options.chunk), Number(options.pause)];
let token: { text: string; until: number } | undefined;
let submitted = 0;
/** Submissions that were shed. */
let shed = 0;
const letter = 'element/processing/processing.001/1.0';

const folder = await mkdtemp(path.join(tmpdir(), 'accord-import-'));
const postgres = await startPostgres();
const url = await postgres.createDatabase('import');
const secretsDir = path.join(folder, 'secrets');
const { key } = await seedDatabase({ url, folder, secretsDir });
const server = await startServer('services/standalone.ts', {
  DATABASE_URL: url,
  DATA_DIR: folder,
  SECRETS_DIR: secretsDir,
  PORT: '0',
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'warn',
  STOP_DELAY: '0',
});
const client = createHttpClient({ port: server.port, connections: 16 });
try {
  const alone = await submitUntil(new Promise((resolve) => setTimeout(resolve, seconds * 1000)));
  let importing = true;
  const started = performance.now();
  const done = importAll().finally(() => {
    importing = false;
  });
  const beside = await submitUntil(done, () => importing);
  await done;
  const took = (performance.now() - started) / 1000;
  const again = performance.now();
  const { created, unchanged } = await send(0);
  const report = [
    `# Import`,
    '',
    `\`npm run bench -- import --rows ${rows}\`, ${cpus().length} cores, one process with PostgreSQL beside it.`,
    '',
    `${rows.toLocaleString('en')} rows in ${took.toFixed(1)} s: ${Math.round(rows / took).toLocaleString('en')} a second; at this rate 1,000,000 take ${((1e6 * took) / rows / 60).toFixed(1)} min. The first request again: ${created} created, ${unchanged} unchanged, in ${((performance.now() - again) / 1000).toFixed(1)} s.`,
    '',
    `| Submissions, ${rate} a second, ms | p50 | p95 | p99 | number |`,
    '|---|---:|---:|---:|---:|',
    `| alone | ${inMs(alone)} |`,
    `| beside the import | ${inMs(beside)} |`,
    '',
    `${shed} of all submissions were shed (503). Load of the machine before and after: ${[before, loadavg()[0] ?? 0].map((each) => each.toFixed(1)).join(', ')}.`,
    '',
  ].join('\n');
  await writeFile(options.output, report);
  process.stdout.write(report);
} finally {
  client.close();
  await server.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function importAll(): Promise<void> {
  for (let first = 0; first < rows; first += chunk) {
    const began = performance.now();
    const { created, errors } = await send(first);
    if (created !== Math.min(chunk, rows - first)) throw new Error(JSON.stringify(errors.slice(0, 3)));
    await new Promise((resolve) => setTimeout(resolve, pause * (performance.now() - began)));
  }
}

/** Sends the rows from this one on; three of four persons are new, each with an answer of its own time. */
async function send(first: number) {
  const lines = Array.from({ length: Math.min(chunk, rows - first) }, (_, index) => {
    const number = first + index;
    return JSON.stringify({
      subject: `person ${number - (number % 4 === 3 ? 3 : 0)}`,
      element: 'processing.001',
      serial: '1.0',
      answer: [number % 5 === 0 ? 'refused' : 'accepted'],
      given: new Date(Date.UTC(2024, 0, 1) + number * 1_000).toISOString(),
      validity: 'P10Y',
      source: 'Old system',
      sourceId: `row ${number}`,
      evidence: { kind: 'URL', value: `https://archive.example/${number}` },
    });
  });
  const headers = { Authorization: `Bearer ${await signIn()}`, 'Content-Type': 'application/x-ndjson' };
  for (;;) {
    const reply = await client.post('/records/import', headers, lines.join('\n'));
    if (reply.status === 200)
      return JSON.parse(reply.body) as { created: number; unchanged: number; errors: object[] };
    if (reply.status !== 503) throw new Error(`${reply.status} ${reply.body}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function signIn(): Promise<string> {
  if (token && token.until > performance.now()) return token.text;
  const form = 'grant_type=password&client_id=accord&username=admin&password=demo';
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { access_token: text } = JSON.parse((await client.post('/auth', headers, form)).body) as {
    access_token: string;
  };
  token = { text, until: performance.now() + 120_000 };
  return text;
}

/** @returns how long each submission took, in ms. */
async function submitUntil(end: Promise<unknown>, isOn?: () => boolean): Promise<number[]> {
  let ended = false;
  void end.then(
    () => {
      ended = true;
    },
    () => {
      ended = true;
    },
  );
  const times: Promise<number>[] = [];
  while (!ended && (isOn?.() ?? true)) {
    times.push(submit());
    await new Promise((resolve) => setTimeout(resolve, 1000 / rate));
  }
  return Promise.all(times);
}

async function submit(): Promise<number> {
  submitted += 1;
  const context = { subject: `submitter ${submitted}`, layoutData: { elements: ['processing.001'] } };
  const body = JSON.stringify({ context, values: { [letter]: ['accepted'] } });
  const from = performance.now();
  const headers = { CM_KEY: key, 'Content-Type': 'application/json' };
  const { status } = await client.post('/consents/singlestep', headers, body);
  if (status === 503) shed += 1;
  else if (status !== 201) throw new Error(`a submission was answered with ${status}`);
  return performance.now() - from;
}

function inMs(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${times.length}`;
}
