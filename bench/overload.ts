import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createHttpClient } from './http-client.ts';
import { writeOverloadReport } from './overload-report.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { cpuSeconds } from './process-usage.ts';
import { FlowEnded, runFlow, type Step, steps, type Target } from './run-flow.ts';
import { startServer } from './start-server.ts';

// What a process does with more than it can do: first as many flows as it manages, then flows that begin at a
// multiple of that rate, whether earlier ones are done or not. Nobody tries again. It asserts nothing:
// figures are for reading.

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    factor: { type: 'string', default: '2' },
    concurrency: { type: 'string', default: '24' },
    'max-in-flight': { type: 'string' },
    'max-delay': { type: 'string' },
    output: { type: 'string', default: fileURLToPath(new URL('overload.md', import.meta.url)) },
  },
});
const seconds = Number(options.seconds);

/** What became of the flows of one phase. */
export interface Load {
  seconds: number;
  /** Of the server's own process. */
  cpuSeconds: number;
  begun: number;
  /** Flows that came to their end: the subject's answers are stored. */
  done: number;
  /** Milliseconds of every request that was accepted. */
  accepted: number[];
  /** Milliseconds of every request that was refused. */
  refused: number[];
  /** Where flows were refused, and where they failed in another way. */
  refusedAt: Partial<Record<Step, number>>;
  /** Submits that were answered, refused or not. */
  submits: number;
  failures: string[];
}

type Server = Target & { pid: number };

let orders = 0;
/**
 * As many as a router keeps: Node.js accepts one new connection in each turn of its loop, so new ones would
 * wait unseen.
 */
const connections = 256;

const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
try {
  const prepared = await prepareFolder(path.join(folder, 'accord'), 0);
  const server = await startServer('services/standalone.ts', {
    ...accordSettings(prepared.dataDir),
    ...(options['max-in-flight'] ? { MAX_IN_FLIGHT: options['max-in-flight'] } : {}),
    MAX_EVENT_LOOP_DELAY: options['max-delay'] ?? '',
  });
  const client = createHttpClient({ port: server.port, connections });
  const target = { client, key: prepared.key, pid: server.pid };
  try {
    await closedLoop(target, Math.min(5, seconds));
    const peaks: Load[] = [await closedLoop(target, seconds)];
    const overloads: Load[] = [];
    // In turn, because a machine is not equally fast all the time; the last word is whether it is as fast
    // afterwards as before.
    for (let round = 0; round < Number(options.rounds); round += 1) {
      const rate = (Number(options.factor) * addLoads(peaks).done) / addLoads(peaks).seconds;
      overloads.push(await openLoop(target, rate, seconds));
      peaks.push(await closedLoop(target, seconds));
    }
    const [peak, overload] = [addLoads(peaks), addLoads(overloads)];
    const report = writeOverloadReport({ peak, overload, factor: Number(options.factor), command });
    await writeFile(options.output, report);
    process.stdout.write(report);
  } finally {
    target.client.close();
    await server.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

function command(): string {
  return ['npm run bench -- overload', ...process.argv.slice(2)].join(' ');
}

/** So many flows at a time, each after the one before. */
async function closedLoop(target: Server, duration: number): Promise<Load> {
  const load = newLoad();
  const started = performance.now();
  const cpuBefore = cpuSeconds(target.pid);
  const walk = async () => {
    while (performance.now() - started < duration * 1000) await walkOnce(target, load);
  };
  await Promise.all(Array.from({ length: Number(options.concurrency) }, walk));
  load.seconds = (performance.now() - started) / 1000;
  load.cpuSeconds = cpuSeconds(target.pid) - cpuBefore;
  return load;
}

/** So many flows begin every second, whatever becomes of those before. */
async function openLoop(target: Server, rate: number, duration: number): Promise<Load> {
  await Promise.all(Array.from({ length: connections }, () => target.client.get('/livez', {})));
  const load = newLoad();
  const walks: Promise<void>[] = [];
  const started = performance.now();
  const cpuBefore = cpuSeconds(target.pid);
  await new Promise<void>((finish) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - started) / 1000;
      while (walks.length < Math.min(elapsed, duration) * rate) walks.push(walkOnce(target, load));
      if (elapsed < duration) return;
      clearInterval(timer);
      finish();
    }, 5);
  });
  await Promise.all(walks);
  load.seconds = (performance.now() - started) / 1000;
  load.cpuSeconds = cpuSeconds(target.pid) - cpuBefore;
  return load;
}

async function walkOnce(target: Target, load: Load): Promise<void> {
  const order = orders;
  orders += 1;
  load.begun += 1;
  try {
    await runFlow(target, { subject: `subject-${order}`, order }, (step, ms) => {
      load.accepted.push(ms);
      if (step === 'submit') load.submits += 1;
    });
    load.done += 1;
  } catch (error) {
    if (!(error instanceof FlowEnded) || error.status !== 503) {
      load.failures.push((error as Error).message);
      return;
    }
    load.refused.push(error.ms);
    load.refusedAt[error.step] = (load.refusedAt[error.step] ?? 0) + 1;
    if (error.step === 'submit') load.submits += 1;
  }
}

function addLoads(loads: readonly Load[]): Load {
  return loads.reduce(
    (total, load) => ({
      seconds: total.seconds + load.seconds,
      cpuSeconds: total.cpuSeconds + load.cpuSeconds,
      begun: total.begun + load.begun,
      done: total.done + load.done,
      accepted: [...total.accepted, ...load.accepted],
      refused: [...total.refused, ...load.refused],
      refusedAt: Object.fromEntries(
        steps.map((step) => [step, (total.refusedAt[step] ?? 0) + (load.refusedAt[step] ?? 0)]),
      ),
      submits: total.submits + load.submits,
      failures: [...total.failures, ...load.failures],
    }),
    newLoad(),
  );
}

function newLoad(): Load {
  return {
    seconds: 0,
    cpuSeconds: 0,
    begun: 0,
    done: 0,
    accepted: [],
    refused: [],
    refusedAt: {},
    submits: 0,
    failures: [],
  };
}
