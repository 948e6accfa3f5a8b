import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ConsolePerson, signInToConsole } from '../test/support/console/console-person.ts';
import { measurePaints, type PaintTimes } from './console-paint.ts';
import { fillTables } from './fill-tables.ts';
import { createHttpClient } from './http-client.ts';
import { seedDatabase } from './prepare-databases.ts';
import { watchStolen } from './process-usage.ts';
import { percentile, runPhase } from './run-phase.ts';
import { startPostgres } from './start-postgres.ts';
import { startServer } from './start-server.ts';

// How long the console's pages take beside many transactions and records, also on a slow phone, and what ten
// people who use the console cost the subjects who answer. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    repeat: { type: 'string', default: '40' },
    flows: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '4' },
    output: { type: 'string', default: fileURLToPath(new URL('results-console.md', import.meta.url)) },
  },
});
const rounds = Number(options.rounds);
const flows = Number(options.flows);
const concurrency = 4;
const people = 10;
/** How long a person looks at a page, on the average of a day's work, and in a hurry. */
const thinkingMs = { calm: 10_000, hasty: 2_000 };

/** Milliseconds of submissions without people, and beside people who use the console. */
type Submits = Record<'alone' | keyof typeof thinkingMs, number[]>;

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
  const url = await postgres.createDatabase('console');
  const { key } = await seedDatabase({ url, folder, secretsDir });
  await fillTables(postgres.adminUrl('console'), Number(options.records), true);
  const [{ transactions } = { transactions: 0 }] = await postgres.run<{ transactions: number }>(
    'console',
    'SELECT count(*)::int AS transactions FROM transactions.transactions',
  );
  const settings = { DATABASE_URL: url, DATA_DIR: folder, SECRETS_DIR: secretsDir, LOG_LEVEL: 'warn' };
  const limits = { PORT: '0', RATE_LIMITS: 'off', MAX_EVENT_LOOP_DELAY: '0', STOP_DELAY: '0' };
  const server = keep(await startServer('services/standalone.ts', { ...settings, ...limits }));
  const baseUrl = `http://localhost:${server.port}`;
  const person = await signInToConsole(baseUrl, 'admin');
  const pages = await pagesOf(person);
  const stolen = watchStolen();
  const times = new Map(pages.map((page) => [page, [] as number[]]));
  // The first round is the warm-up.
  for (let round = 0; round <= Number(options.repeat); round += 1)
    for (const page of pages) {
      const { ms } = await open(person, page);
      if (round > 0) times.get(page)?.push(ms);
    }
  process.stderr.write('largest contentful paints\n');
  const paints = await measurePaints(baseUrl, [...pages, ...(await editorsOf(person))]);
  const client = createHttpClient({ port: server.port, connections: concurrency });
  keep({ stop: async () => client.close() });
  const submits: Submits = { alone: [], calm: [], hasty: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const order = ['alone', 'calm', 'hasty'] as const;
    for (const kind of round % 2 === 0 ? order : order.toReversed()) {
      const users = kind === 'alone' ? undefined : useConsole(baseUrl, pages, thinkingMs[kind]);
      await users?.begun;
      const subjectOf = (flow: number) => ({
        subject: `${kind}-${round}-${flow}`,
        order: round * flows + flow,
      });
      const phase = await runPhase({ client, key, pids: [server.pid] }, { flows, concurrency, subjectOf });
      const seen = await users?.stop();
      if (round > 0) submits[kind].push(...phase.times.submit);
      const ms = percentile(phase.times.submit, 0.99).toFixed(0);
      process.stderr.write(`round ${round}, ${kind}: submit p99 ${ms} ms${seen ? `, ${seen} pages` : ''}\n`);
    }
  }
  return writeReport({ times, paints, submits, transactions, stolen: stolen() });
}

/** The first page, the lists, their searches and second pages, and the page of one of each. */
async function pagesOf(person: ConsolePerson): Promise<string[]> {
  const lists = ['', '/elements', '/forms', '/transactions', '/subjects', '/receipts', '/audit', '/settings'];
  const found = lists.map((each) => `/console${each}`);
  found.push('/console/transactions?states=CREATED', await searched(person, 'transactions', 'filled-1'));
  found.push(await searched(person, 'subjects', 'filled-12'));
  for (const list of [...found]) {
    const { html } = await person.open(list);
    const links = [...html.matchAll(/href="(\/console[^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    const next = links.find(
      (href) => href.startsWith(list.split('?')[0] as string) && /[?&](cursor|after|page)=/.test(href),
    );
    const detail = links.find((href) => new RegExp(`^${list.split('?')[0]}/[\\w.-]{12,}$`).test(href));
    for (const href of [next, detail]) if (href && !found.includes(href)) found.push(href);
  }
  found.push(`${await searched(person, 'subjects', 'filled-12@example.org')}#by-address`);
  return found;
}

/** The list that a search for a person leads to: the name is sealed in its address. */
async function searched(
  person: ConsolePerson,
  room: 'transactions' | 'subjects',
  name: string,
): Promise<string> {
  const { path } = await person.post(`/console/${room}`, { subject: name, word: name });
  return path;
}

/** The editor of an element and the designer of a form. */
async function editorsOf(person: ConsolePerson): Promise<string[]> {
  const found: string[] = [];
  for (const list of ['/console/elements', '/console/forms']) {
    const { html } = await person.open(list);
    const [, detail] =
      new RegExp(`href="(${list}/[\\w.-]+)"`).exec(html.replaceAll(/href="[^"]*\/(new|import)"/g, '')) ?? [];
    if (detail) found.push(`${detail}/edit`);
  }
  return found;
}

/** @returns how long the page took, and the addresses of the panels that it loads later. */
async function open(person: ConsolePerson, page: string): Promise<{ ms: number; later: string[] }> {
  const started = performance.now();
  const { status, html } = await person.open(page);
  if (status !== 200) throw new Error(`${page}: ${status}`);
  const ms = performance.now() - started;
  const later = [...html.matchAll(/hx-get="([^"]*[?&;]wait=[^"]*)"/g)].map(([, href = '']) => href);
  return { ms, later: later.map((href) => href.replaceAll('&amp;', '&')) };
}

/** Ten people, who open one page after the other. @returns ends it, and tells how many pages they saw. */
function useConsole(baseUrl: string, pages: readonly string[], lookingMs: number) {
  let isStopped = false;
  let seen = 0;
  const signedIn = Array.from({ length: people }, () => signInToConsole(baseUrl, 'admin'));
  const all = signedIn.map(async (person, index) => {
    const browser = await person;
    await pause((index * lookingMs) / people);
    for (let turn = index; !isStopped; turn += 1) {
      const { later } = await open(browser, pages[turn % pages.length] as string);
      await Promise.all(later.map((panel) => open(browser, panel)));
      seen += 1;
      await pause(lookingMs);
    }
  });
  return {
    begun: Promise.all(signedIn),
    async stop() {
      isStopped = true;
      await Promise.all(all);
      return seen;
    },
  };
}

/** Without ids. */
function shortened(page: string): string {
  return page.replaceAll(/[\w-]{20,}/g, '…');
}

function writeReport({
  times,
  paints,
  submits,
  transactions,
  stolen,
}: {
  times: ReadonlyMap<string, readonly number[]>;
  paints: ReadonlyMap<string, PaintTimes>;
  submits: Submits;
  transactions: number;
  stolen: number | undefined;
}): string {
  const ms = (values: readonly number[], share: number) => percentile(values, share).toFixed(0);
  const rows = [...times].map(
    ([page, values]) => `| ${shortened(page)} | ${ms(values, 0.5)} | ${ms(values, 0.95)} |`,
  );
  const painted = [...paints].map(
    ([page, { cold, warm }]) => `| ${shortened(page)} | ${ms(cold, 0.5)} | ${ms(warm, 0.5)} |`,
  );
  const beside = (['calm', 'hasty'] as const).map((kind) => {
    const ratio = percentile(submits[kind], 0.99) / percentile(submits.alone, 0.99);
    return `| ${thinkingMs[kind] / 1000} s | ${ms(submits[kind], 0.99)} | ${ratio.toFixed(2)} |`;
  });
  return [
    '# The console beside many transactions',
    '',
    `\`${['npm run bench -- console', ...process.argv.slice(2)].join(' ')}\`: ${transactions} transactions and ${options.records} records, one process, its PostgreSQL and the driver on one machine.${stolen === undefined ? '' : ` The host gave ${(stolen * 100).toFixed(0)} % of the CPU to others.`}`,
    '',
    '| Page | p50, ms | p95, ms (≤ 150) |',
    '|---|---:|---:|',
    ...rows,
    '',
    'Largest contentful paint, median of three, at 360 px, 1.6 Mbit/s, 150 ms for a round trip and a quarter of the CPU:',
    '',
    '| Page | nothing cached, ms (≤ 1500) | files cached, ms |',
    '|---|---:|---:|',
    ...painted,
    '',
    `**Subjects beside ${people} people who use the console**: ${concurrency} flows at a time, ${rounds} rounds of ${flows} flows each, in turn.`,
    '',
    '| Each person opens a page every | p99 of a submission, ms | beside none (< 1.10) |',
    '|---|---:|---:|',
    `| no person | ${ms(submits.alone, 0.99)} | |`,
    ...beside,
    '',
  ].join('\n');
}
