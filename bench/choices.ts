import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createHttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { startServer } from './start-server.ts';

// My choices: how long the page of a person with many answers takes, beside the list of the same records; and
// whether the request for a link tells a known address, or a known part of a peer, from an unknown one, in
// bytes, status and time.

const { values: options } = parseArgs({
  options: {
    choices: { type: 'string', default: '200' },
    pages: { type: 'string', default: '400' },
    tries: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '4' },
    out: { type: 'string' },
  },
});
const [choices, pages, tries, connections] = [
  options.choices,
  options.pages,
  options.tries,
  options.connections,
].map(Number) as [number, number, number, number];

const letter = 'element/processing/processing.001/1.0';
const subject = 'person of many answers';
const knownAddress = 'known@example.org';

const folder = await mkdtemp(path.join(tmpdir(), 'accord-choices-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const { dataDir, key } = await prepareFolder(path.join(folder, 'data'), 1);
// Nothing is listening there: mails are queued, and wait.
const settings = { ...accordSettings(dataDir), MAIL_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@example.org' };
const server = await startServer('services/standalone.ts', settings);
const maker = createHttpClient({ port: server.port, connections });
const json = { 'Content-Type': 'application/json' };

type Reply = Awaited<ReturnType<typeof maker.post>>;

async function timed(send: () => Promise<Reply>, wanted: number) {
  const from = performance.now();
  const reply = await send();
  const ms = performance.now() - from;
  if (reply.status !== wanted) throw new Error(`${reply.status} ${reply.body}`);
  return { ms, reply };
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

const inMs = (times: readonly number[]) =>
  [0.5, 0.95, 0.99].map((share) => quantile(times, share).toFixed(2)).join(' | ');

for (let number = 0; number < choices; number += 1) {
  const context = {
    subject,
    object: `object ${number}`,
    layoutData: { elements: ['processing.001'] },
    subjectInfos: { emailAddress: knownAddress },
  };
  const body = JSON.stringify({ context, values: { [letter]: ['accepted'] } });
  await timed(() => maker.post('/consents/singlestep', { CM_KEY: key, ...json }, body), 201);
}

maker.close();

// A part that a peer sent, as the person's last transaction would have brought it.
const part = 'A'.repeat(22);
await server.stop();
await writePart();
const again = await startServer('services/standalone.ts', settings);
const client = createHttpClient({ port: again.port, connections });

const opened = await client.post('/choices', { CM_KEY: key, ...json }, JSON.stringify({ subject }));
const { search } = new URL((JSON.parse(opened.body) as { url: string }).url);
const name = encodeURIComponent(subject);
const measured = {
  'the page': () => client.get(`/choices${search}`, { Accept: 'text/html' }),
  'as JSON': () => client.get(`/choices?subject=${name}`, { CM_KEY: key }),
  'the same records': () => client.get(`/records?subject=${name}`, { CM_KEY: key }),
};
const lines = [`| ${choices} choices, ms | p50 | p95 | p99 |`, '|---|---:|---:|---:|'];
for (const [what, send] of Object.entries(measured)) {
  const times: number[] = [];
  for (let count = 0; count < pages; count += 1) times.push((await timed(send, 200)).ms);
  lines.push(`| ${what} | ${inMs(times)} |`);
}

/** Asks for links, half of them for what is known, in an order that nothing else follows. */
async function ask(known: object, unknown: (count: number) => object) {
  const times = { known: [] as number[], unknown: [] as number[] };
  const replies = new Set<string>();
  for (let count = 0; count < tries; count += 1) {
    const isKnown = (Math.imul(count, 2_654_435_761) >>> 16) % 2 === 0;
    const body = JSON.stringify(isKnown ? known : unknown(count));
    const { ms, reply } = await timed(() => client.post('/choices/link', json, body), 202);
    times[isKnown ? 'known' : 'unknown'].push(ms);
    replies.add(`${reply.status} ${reply.body}`);
  }
  return { times, replies };
}

/** How often a known address takes longer than an unknown one: 0.5 if nothing can be told. */
function superiority(a: readonly number[], b: readonly number[]): number {
  const sorted = b.toSorted((x, y) => x - y);
  const below = (value: number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return a.reduce((sum, value) => sum + below(value), 0) / (a.length * b.length);
}
for (const [what, known, unknown] of [
  [
    'address',
    { address: knownAddress },
    (count: number) => ({ address: `u${String(count % 10_000).padStart(4, '0')}@example.org` }),
  ],
  ['part of a peer', { from: part }, (count: number) => ({ from: sidOf(count) })],
] as const) {
  const { times, replies } = await ask(known, unknown);
  lines.push(
    '',
    `| ${tries} requests for a link, ms | p50 | p95 | p99 |`,
    '|---|---:|---:|---:|',
    `| a known ${what} | ${inMs(times.known)} |`,
    `| an unknown one | ${inMs(times.unknown)} |`,
    '',
    `Different responses: ${replies.size}. A known ${what} takes longer than an unknown one in ${(100 * superiority(times.known, times.unknown)).toFixed(1)} % of pairs (50: nothing can be told).`,
  );
}
const report = `${lines.join('\n')}\n`;
process.stdout.write(report);
if (options.out) await writeFile(options.out, `# My choices\n\n\`npm run bench -- choices\`\n\n${report}`);
client.close();
await again.stop();
await rm(folder, { recursive: true });

/** The id of a part that was never sent. */
function sidOf(count: number): string {
  return `B${[...String(count).padStart(21, '0')].map((digit) => 'CDEFGHJKLM'[Number(digit)]).join('')}`;
}

async function writePart(): Promise<void> {
  const log = createLogger({ level: 'error' });
  const postgres = await startEmbeddedPostgres({ dataDir, named: true, log });
  const database = new pg.Client({
    connectionString: postgres.connectionString,
    options: '-c search_path=transactions',
  });
  await database.connect();
  await database.query(
    `INSERT INTO received_parts (peer, sid, digest, verdict, transaction, received_at, changed_at)
     SELECT 'https://peer.example', $1, sha256('part'), 'committed', t.id, now(), now()
       FROM transactions AS t WHERE t.subject = $2 ORDER BY t.created_at DESC LIMIT 1`,
    [part, subject],
  );
  await database.query(
    `INSERT INTO part_addresses (transaction, digest)
     SELECT p.transaction, c.digest FROM received_parts AS p, contacts AS c WHERE c.subject = $1`,
    [subject],
  );
  await database.end();
  await postgres.stop();
}
