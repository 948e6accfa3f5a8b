import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { findRunningPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { cpuSeconds } from './process-usage.ts';
import { demonstration, runFlow } from './run-flow.ts';
import { percentile } from './run-phase.ts';
import { startServer } from './start-server.ts';

// Submissions at a low steady rate while the mail server is away for half an hour, beside a second instance
// whose mail server stays. No clock is moved: afterwards all messages are sent as in production. It asserts
// nothing.

const { values: options } = parseArgs({
  options: {
    before: { type: 'string', default: '300' },
    away: { type: 'string', default: '1800' },
    rate: { type: 'string', default: '2.5' },
    output: { type: 'string', default: fileURLToPath(new URL('results-mail-away.md', import.meta.url)) },
  },
});
const seconds = { before: Number(options.before), away: Number(options.away) };
const rate = Number(options.rate);
const warmUp = 10;
const mailDomains = 20;
const phaseNames = ['before', 'away'] as const;
type Phase = (typeof phaseNames)[number];
type Measured = Record<Phase, { submits: number[]; cpuSeconds: number }>;

/** An instance with a mail server of its own, and what was measured of it. */
interface Instance {
  pid: number;
  client: HttpClient;
  key: string;
  database: pg.Client;
  mail: Receiver;
  measured: Measured;
  flows: number;
  failed: number;
  drainSeconds: number;
}

let current: Phase | undefined;
const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const running: { stop(): Promise<void> }[] = [];
try {
  const instances = { 'mail server away': await start('away'), control: await start('control') };
  const both = Object.values(instances);
  const submitting = new AbortController();
  const load = Promise.all(both.map((instance) => submitSteadily(instance, submitting.signal)));
  await pause(warmUp * 1000);
  await Promise.all(both.map((instance) => measurePhase(instance, 'before')));
  await instances['mail server away'].mail.close();
  await Promise.all(both.map((instance) => measurePhase(instance, 'away')));
  submitting.abort();
  await load;
  await instances['mail server away'].mail.open();
  await Promise.all(both.map(drain));
  for (const { client, database, mail } of both) {
    client.close();
    await database.end();
    await mail.close();
  }
  const report = writeReport(instances);
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const server of running) await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function start(name: string): Promise<Instance> {
  const { dataDir, key } = await prepareFolder(path.join(folder, name), 1);
  const mail = createReceiver(await freePort());
  await mail.open();
  const server = await startServer('services/standalone.ts', {
    ...accordSettings(dataDir),
    LOG_LEVEL: 'error',
    MAIL_URL: `smtp://localhost:${mail.port}`,
    MAIL_HOURLY_LIMIT: '1000000',
    CREATOR_HOURLY_LIMIT: '1000000',
  });
  running.push(server);
  const database = new pg.Client({ connectionString: await findRunningPostgres(dataDir) });
  await database.connect();
  const phase = () => ({ submits: [], cpuSeconds: 0 });
  return {
    pid: server.pid,
    client: createHttpClient({ port: server.port, connections: 64 }),
    key,
    database,
    mail,
    measured: { before: phase(), away: phase() },
    flows: 0,
    failed: 0,
    drainSeconds: 0,
  };
}

/** An SMTP server that keeps only the Message-ID of each mail. */
interface Receiver {
  port: number;
  received: string[];
  open(): Promise<void>;
  close(): Promise<void>;
}

function createReceiver(port: number): Receiver {
  const received: string[] = [];
  let server: SMTPServer | undefined;
  return {
    port,
    received,
    async open() {
      server = new SMTPServer({
        authOptional: true,
        disabledCommands: ['AUTH', 'STARTTLS'],
        disableReverseLookup: true,
        closeTimeout: 100,
        onData(stream, _session, done) {
          text(stream).then((mail) => {
            received.push(/^Message-ID: <(.+)>/im.exec(mail)?.[1] ?? '');
            done(null);
          }, done);
        },
      });
      server.on('error', () => {});
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async close() {
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
      server = undefined;
    },
  };
}

/** Starts flows at a constant rate, however long each takes. */
async function submitSteadily(instance: Instance, stopped: AbortSignal): Promise<void> {
  const flows: Promise<unknown>[] = [];
  const started = performance.now();
  while (!stopped.aborted) {
    const order = instance.flows;
    instance.flows += 1;
    const questions = { ...demonstration, notifyAt: `d${order % mailDomains}.example` };
    const began = current;
    flows.push(
      runFlow({ ...instance, questions }, { subject: `s-${order}`, order }, (step, ms) => {
        if (step === 'submit' && began) instance.measured[began].submits.push(ms);
      }).catch((error: Error) => {
        instance.failed += 1;
        process.stderr.write(`${error.message}\n`);
      }),
    );
    await pause(Math.max(0, started + (instance.flows * 1000) / rate - performance.now()));
  }
  await Promise.all(flows);
}

async function measurePhase({ pid, measured, mail }: Instance, phase: Phase): Promise<void> {
  current = phase;
  const before = cpuSeconds(pid);
  await pause(seconds[phase] * 1000);
  measured[phase].cpuSeconds = cpuSeconds(pid) - before;
  const p99 = percentile(measured[phase].submits, 0.99).toFixed(1);
  process.stderr.write(`${phase}: submit p99 ${p99} ms, ${mail.received.length} mails so far\n`);
}

/** Waits until every message has ended. */
async function drain(instance: Instance): Promise<void> {
  const started = performance.now();
  const count = `SELECT count(*)::int AS pending FROM transactions.messages WHERE state = 'PENDING'`;
  for (let pending = 1; pending > 0; await pause(500))
    pending = (await instance.database.query(count)).rows[0].pending;
  instance.drainSeconds = (performance.now() - started) / 1000;
}

function writeReport(instances: Record<string, Instance>): string {
  const named = Object.entries(instances);
  const p99 = (instance: Instance, phase: Phase) => percentile(instance.measured[phase].submits, 0.99);
  const rows = named.flatMap(([name, instance]) =>
    phaseNames.map((phase) => {
      const { submits, cpuSeconds: cpu } = instance.measured[phase];
      const ratio = (p99(instance, phase) / p99(instance, 'before')).toFixed(2);
      const p50 = percentile(submits, 0.5).toFixed(1);
      return `| ${name}, ${phase} | ${submits.length} | ${p50} | ${p99(instance, phase).toFixed(1)} | ${ratio} | ${((cpu * 1000) / submits.length).toFixed(0)} |`;
    }),
  );
  const mails = named.map(([name, { flows, failed, mail, drainSeconds }]) => {
    const arrived = new Set(mail.received).size;
    return `- ${name}: ${failed} of ${flows} flows failed. ${arrived} mails arrived, ${mail.received.length - arrived} of them twice; the last ${drainSeconds.toFixed(0)} s after the end of the outage.`;
  });
  return [
    '# The mail server away for half an hour',
    '',
    `\`${['npm run bench:mail-away', ...process.argv.slice(2)].join(' ')}\`: two instances on one machine, ${rate} flows a second each, for ${seconds.before} s and then for ${seconds.away} s while the first has no mail server.`,
    'Each submission writes a notification with its receipt as PDF. CPU is that of the instance for each flow, with all its PDFs.',
    '',
    '| Instance, phase | Submissions | p50, ms | p99, ms | p99, ratio | CPU, ms |',
    '|---|---:|---:|---:|---:|---:|',
    ...rows,
    '',
    ...mails,
    '',
  ].join('\n');
}
