import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { findRunningPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { startMailServer } from '../test/support/network/mail-server.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { watchStolen } from './process-usage.ts';
import { demonstration, type Questions } from './run-flow.ts';
import { addPhases, type Phase, percentile, runPhase } from './run-phase.ts';
import { startServer } from './start-server.ts';

// Measures submissions whose notification waits because the mail server is away, beside submissions without a
// notification, and whether every mail arrives afterwards. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    flows: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '4' },
    concurrency: { type: 'string', default: '16' },
    'pdfs-per-second': { type: 'string', default: '12' },
    kinds: { type: 'string' },
    output: { type: 'string', default: fileURLToPath(new URL('results-messages.md', import.meta.url)) },
  },
});
const flows = Number(options.flows);
const rounds = Number(options.rounds);
const concurrency = Number(options.concurrency);
const pdfsPerSecond = Number(options['pdfs-per-second']);
const allKinds = [
  'no mails',
  'PDFs requested',
  'mail server present',
  'mail server away',
  'mail server silent',
] as const;
const withoutMails: readonly Kind[] = ['no mails', 'PDFs requested'];
type Kind = (typeof allKinds)[number];
const kinds = allKinds.filter((kind) => !options.kinds || options.kinds.split(',').includes(kind));

const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const mailPort = await freePort();
const running: { stop(): Promise<void> }[] = [];
try {
  const { dataDir, key } = await prepareFolder(path.join(folder, 'accord'), 1);
  const server = await startServer('services/standalone.ts', {
    ...accordSettings(dataDir),
    LOG_LEVEL: 'error',
    MAIL_URL: `smtp://localhost:${mailPort}`,
    MESSAGE_DAILY_LIMIT: '1000000',
    MAIL_HOURLY_LIMIT: '1000000',
    CREATOR_HOURLY_LIMIT: '1000000',
  });
  running.push(server);
  const client = createHttpClient({ port: server.port, connections: concurrency });
  const stolen = watchStolen();
  const phases = Object.fromEntries(allKinds.map((kind) => [kind, []])) as unknown as Record<Kind, Phase[]>;
  const arrived: string[] = [];
  const pdfs: { count: number; seconds: number }[] = [];
  const receipt = await createReceipt(client, key);
  let order = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const first = order;
      order += flows;
      const mailServer = await startServerOf(kind);
      const requests = kind === 'PDFs requested' ? requestPdfs(server.port, { key, receipt }) : undefined;
      const phase = await runPhase(
        { client, key, pids: [server.pid], questions: questionsOf(kind) },
        {
          flows,
          concurrency,
          subjectOf: (flow) => ({ subject: `new-${first + flow}`, order: first + flow }),
        },
      );
      const requested = await requests?.stop();
      if (round > 0 && requested) pdfs.push(requested);
      await mailServer?.close();
      arrived.push(...(mailServer?.received ?? []), ...(await deliver(dataDir)));
      // The first round is the warm-up.
      if (round > 0) phases[kind].push(phase);
      const p99 = percentile(phase.times.submit, 0.99).toFixed(0);
      process.stderr.write(`round ${round}, ${kind}: submit p99 ${p99} ms; ${arrived.length} mails so far\n`);
    }
  }
  client.close();
  const mails = flows * (rounds + 1) * kinds.filter((kind) => !withoutMails.includes(kind)).length;
  const report = writeReport(phases, { mails, arrived, pdfs, stolen: stolen() });
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const server of running) await server.stop();
  await rm(folder, { recursive: true, force: true });
}

function questionsOf(kind: Kind): Questions {
  return withoutMails.includes(kind)
    ? demonstration
    : { ...demonstration, notifyAt: `${kind.replaceAll(' ', '-')}.example` };
}

/** @returns the path of a receipt. */
async function createReceipt(client: HttpClient, key: string): Promise<string> {
  const values = { 'element/preference/preference.001/1.0': ['Once a month'] };
  const context = { subject: 'receipt', layoutData: { elements: ['preference.001'] } };
  const headers = { CM_KEY: key, 'Content-Type': 'application/json' };
  const { body } = await client.post('/consents/singlestep', headers, JSON.stringify({ context, values }));
  return `/receipts/${JSON.parse(body).id}?format=application/pdf`;
}

/** Requests PDFs at a constant rate, at most four at a time, until it is stopped. */
function requestPdfs(port: number, { key, receipt }: { key: string; receipt: string }) {
  const client = createHttpClient({ port, connections: 4 });
  const started = performance.now();
  let count = 0;
  let isStopped = false;
  let due = started;
  const request = async () => {
    while (!isStopped) {
      due += 1000 / pdfsPerSecond;
      await pause(Math.max(0, due - performance.now()));
      const { status } = await client.get(receipt, { CM_KEY: key });
      if (status !== 200) throw new Error(`a PDF was answered with ${status}`);
      count += 1;
    }
  };
  const requests = Promise.all(Array.from({ length: 4 }, request));
  return {
    async stop() {
      const seconds = (performance.now() - started) / 1000;
      const requested = { count, seconds };
      isStopped = true;
      await requests;
      client.close();
      return requested;
    },
  };
}

/** The mail server of a phase, which has received the mails with these Message-IDs. */
interface PhaseServer {
  received: string[];
  close(): Promise<void>;
}

async function startServerOf(kind: Kind): Promise<PhaseServer | undefined> {
  if (kind === 'mail server silent') return startSilentServer();
  return kind === 'mail server present' ? startReceiver() : undefined;
}

async function startReceiver(): Promise<PhaseServer> {
  const server = await startMailServer({}, { port: mailPort });
  return {
    get received() {
      return server.received.map(({ mail }) => mail.messageId ?? '');
    },
    close: () => server.close(),
  };
}

/** Accepts connections and says nothing. */
async function startSilentServer(): Promise<PhaseServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(mailPort, '127.0.0.1');
  await once(server, 'listening');
  return {
    received: [],
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Starts the mail server and ends the waits of the messages, as time would, until all are sent. @returns the
 * Message-IDs that arrived.
 */
async function deliver(dataDir: string): Promise<string[]> {
  const receiver = await startReceiver();
  const database = new pg.Client({ connectionString: await findRunningPostgres(dataDir) });
  await database.connect();
  for (let pending = 1; pending > 0; ) {
    await database.query('UPDATE transactions.messages SET not_before = now() WHERE not_before > now()');
    await database.query('UPDATE transactions.message_queues SET next_at = now() WHERE next_at > now()');
    await pause(200);
    const { rows } = await database.query(
      `SELECT count(*)::int AS pending FROM transactions.messages WHERE state = 'PENDING'`,
    );
    pending = rows[0].pending;
  }
  await database.end();
  await receiver.close();
  return receiver.received;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function writeReport(
  phases: Record<Kind, Phase[]>,
  {
    mails,
    arrived,
    pdfs,
    stolen,
  }: {
    mails: number;
    arrived: readonly string[];
    pdfs: readonly { count: number; seconds: number }[];
    stolen: number | undefined;
  },
): string {
  const sums = kinds.map((kind) => ({ kind, phase: addPhases(phases[kind]) }));
  const p99 = (phase: Phase) => percentile(phase.times.submit, 0.99);
  const median = (phase: Phase) => percentile(phase.times.submit, 0.5);
  const base = (kind: Kind) =>
    addPhases(phases[withoutMails.includes(kind) ? 'no mails' : 'mail server present']);
  const perSecond = sum(pdfs.map(({ count }) => count)) / sum(pdfs.map(({ seconds }) => seconds));
  const rows = sums.map(
    ({ kind, phase }) =>
      `| ${kind} | ${median(phase).toFixed(1)} | ${(median(phase) / median(base(kind))).toFixed(2)} | ${p99(phase).toFixed(0)} | ${(p99(phase) / p99(base(kind))).toFixed(2)} |`,
  );
  return [
    '# Submissions while the mail server is away',
    '',
    `\`${['npm run bench:messages --', ...process.argv.slice(2)].join(' ')}\`: ${rounds} rounds of ${flows} flows of each kind, in turn on one server, ${concurrency} at a time.`,
    `Submissions of the last three lines write a notification with its receipt as PDF; the PDFs are rendered meanwhile. Ratios are to the line without mails, and to the line with the mail server present.${stolen === undefined ? '' : ` The host gave ${(stolen * 100).toFixed(0)} % of the CPU to others.`}`,
    '',
    '| Submissions | p50, ms | Ratio | p99, ms | Ratio |',
    '|---|---:|---:|---:|---:|',
    ...rows,
    '',
    `While PDFs were requested, ${perSecond.toFixed(1)} a second were rendered.`,
    `Of ${mails} mails ${new Set(arrived).size} arrived, ${arrived.length - new Set(arrived).size} of them twice.`,
    '',
  ].join('\n');
}
