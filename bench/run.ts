import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readPostmasterFile } from '#lib/db/embedded/postmaster.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { accordSettings, type PreparedFolder, prepareFolder, returningSubject } from './prepare-folder.ts';
import { residentMegabytes } from './process-usage.ts';
import { type Kind, kinds, type Results, type System, systems, writeReport } from './report.ts';
import { runPhase } from './run-phase.ts';
import { type ServerProcess, startServer } from './start-server.ts';

// Measures the full flow beside a bare server, in one run. It asserts nothing: figures are for reading.

const { values: options } = parseArgs({
  options: {
    flows: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    concurrency: { type: 'string', default: '16' },
    starts: { type: 'string', default: '3' },
    output: { type: 'string', default: fileURLToPath(new URL('results.md', import.meta.url)) },
  },
});
const rounds = Number(options.rounds);
const concurrency = Number(options.concurrency);
/** Flows of one kind against one server in one round; the warm-up is a round too. */
const flowsEach = Math.ceil(Number(options.flows) / kinds.length / (rounds + 1));
/** Returning subjects are few enough to prepare and come back at every round. */
const returningSubjects = Math.min(flowsEach, 1_000);

interface Contestant {
  server: ServerProcess;
  postmaster: number | undefined;
  client: HttpClient;
  key: string;
  atStart: number;
  flows: number;
}

const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
let orders = 0;
const running = new Set<ServerProcess>();

try {
  const results = await measure();
  const report = writeReport(results);
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  await Promise.all([...running].map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<Results> {
  say('preparing two data folders');
  const own = await prepareFolder(path.join(folder, 'accord'), returningSubjects);
  const bare = await prepareFolder(path.join(folder, 'bare'), returningSubjects);
  const samples = path.join(folder, 'samples.json');
  await writeFile(samples, JSON.stringify(bare));
  const startAccord = () => startServer('services/standalone.ts', accordSettings(own.dataDir));
  const contestants: Record<System, Contestant> = {
    Accord: await enter(await startAccord(), own),
    bare: await enter(
      await startServer('bench/baseline-server.ts', { DATA_DIR: bare.dataDir, SAMPLES: samples }),
      bare,
    ),
  };
  const phases: Results['phases'] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of kinds) {
      // In turn, and each first as often as second.
      for (const system of round % 2 === 0 ? systems : systems.toReversed()) {
        const phase = await run(contestants[system], kind);
        if (round > 0) phases.push({ system, kind, round, phase });
        const cost = ((phase.cpuSeconds / phase.flows) * 1000).toFixed(2);
        say(`round ${round} of ${rounds}, ${kind}, ${system}: ${cost} CPU seconds per 1,000 flows`);
      }
    }
  }
  const memory = { Accord: memoryOf(contestants.Accord), bare: memoryOf(contestants.bare) };
  for (const { client, server } of Object.values(contestants)) {
    client.close();
    running.delete(server);
    await server.stop();
  }
  return {
    phases,
    memory,
    flows: rounds * kinds.length * flowsEach,
    concurrency,
    firstStartMs: own.firstStartMs,
    secondStartMs: [contestants.Accord.server.readyMs, ...(await startAgain(startAccord))],
    command: ['npm run bench', ...process.argv.slice(2)].join(' '),
  };
}

async function enter(server: ServerProcess, { key, dataDir }: PreparedFolder): Promise<Contestant> {
  const client = createHttpClient({ port: server.port, connections: concurrency });
  running.add(server);
  const postgres = await readPostmasterFile(path.join(dataDir, 'postgresql', 'data'));
  return { server, postmaster: postgres?.pid, client, key, atStart: residentMegabytes(server.pid), flows: 0 };
}

function run(contestant: Contestant, kind: Kind) {
  const first = orders;
  orders += flowsEach;
  contestant.flows += flowsEach;
  return runPhase(
    { ...contestant, pids: [contestant.server.pid] },
    {
      flows: flowsEach,
      concurrency,
      subjectOf: (flow) => ({
        subject: kind === 'new' ? `new-${first + flow}` : returningSubject(flow % returningSubjects),
        order: first + flow,
      }),
    },
  );
}

function memoryOf({ server, atStart, flows }: Contestant) {
  return { atStart, afterwards: residentMegabytes(server.pid), flows };
}

/** Further starts on the folder as the flows have left it. */
async function startAgain(start: () => Promise<ServerProcess>): Promise<number[]> {
  const times: number[] = [];
  while (times.length < Number(options.starts) - 1) {
    const server = await start();
    times.push(server.readyMs);
    await server.stop();
  }
  return times;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
