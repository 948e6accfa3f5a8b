import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createHttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { cpuSeconds } from './process-usage.ts';
import { runFlow, type Target } from './run-flow.ts';
import { startServer } from './start-server.ts';
import { type Attack, attacks } from './stranger-attacks.ts';

// How much a stranger slows the submissions of others, under the default limits. For each attack there are,
// in turn, rounds alone, with the stranger, and with the same stranger at another server: that one takes as
// much of the machine as the stranger does. The ratio compares the last two. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    flows: { type: 'string', default: '10' },
    /** Of the stranger; submissions come from 127.0.0.1. Linux answers at every address of 127.0.0.0/8. */
    address: { type: 'string', default: '127.0.0.9' },
    /** Of bench/stranger-attacks.ts, with commas between; default: all. */
    attack: { type: 'string' },
  },
});

/** @returns milliseconds of each submission. */
async function submissions(target: Target): Promise<number[]> {
  const taken: number[] = [];
  const flows: Promise<unknown>[] = [];
  const started = performance.now();
  while (performance.now() - started < Number(options.seconds) * 1000) {
    const order = Math.floor(performance.now() * 1000);
    const note = (step: string, ms: number) => void (step === 'submit' && taken.push(ms));
    const told = (error: unknown) => process.stderr.write(`${String(error).slice(0, 200)}\n`);
    flows.push(runFlow(target, { subject: `person-${order}`, order }, note).catch(told));
    await wait(1000 / Number(options.flows));
  }
  await Promise.all(flows);
  return taken;
}

const share = (taken: readonly number[], part: number) =>
  [...taken].sort((one, other) => one - other)[Math.floor(taken.length * part)] ?? Number.NaN;

/** The links of a person who has answered one form and has another one open. */
async function makeLinks(port: number, key: string): Promise<Pick<Attack, 'form' | 'receipt'>> {
  const send = async (url: string, body: object) => {
    const headers = { CM_KEY: key, 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await response.json()) as { links: { form?: string; receipt?: string } }).links;
  };
  const context = { subject: 'stranger', layout: 'layout.001' };
  const values = {
    'element/processing/processing.001/1.0': 'accepted',
    'element/processing/processing.002/1.0': 'refused',
    'element/preference/preference.001/1.0': 'Once a month',
  };
  const base = `http://localhost:${port}`;
  const answered = await send(`${base}/consents/singlestep`, { context, values });
  const open = await send(`${base}/consents`, { ...context, attributes: { open: 'yes' } });
  // The first PDF of a process loads the typesetter, which takes seconds.
  while (!(await fetch(`${answered.receipt}&format=pdf`)).ok) await wait(1_000);
  const pathOf = (url = '') => url.slice(url.indexOf('/', 'https://'.length));
  return { form: pathOf(open.form), receipt: pathOf(answered.receipt) };
}

/** Runs the stranger beside submissions. @returns how many answers the stranger got. */
async function withStranger(facts: Omit<Attack, 'answered'>, run: () => Promise<void>): Promise<number> {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { ...facts, answered } satisfies Attack;
  const stranger = new Worker(new URL('stranger-attacks.ts', import.meta.url), { workerData });
  await run();
  await stranger.terminate();
  return answered[0] ?? 0;
}

/**
 * A server that has nothing to do with Accord, in a thread of its own. It answers as late as Accord did on
 * average, so that the stranger sends it as many requests.
 */
async function startControl(afterMs: number): Promise<{ port: number; stop(): Promise<unknown> }> {
  const thread = new Worker(new URL('stranger-control.ts', import.meta.url), { workerData: { afterMs } });
  const [port] = await once(thread, 'message');
  return { port, stop: () => thread.terminate() };
}

/** Rounds of one attack. @returns a row of the table. */
async function measureAttack(
  target: Target,
  { pid }: { pid: number },
  facts: Omit<Attack, 'answered'>,
): Promise<string> {
  const phases = { alone: [], control: [], attacked: [] } as Record<
    'alone' | 'control' | 'attacked',
    number[]
  >;
  const cpu = { alone: 0, control: 0, attacked: 0 };
  const submit = async (phase: keyof typeof phases) => {
    const before = cpuSeconds(pid);
    phases[phase].push(...(await submissions(target)));
    cpu[phase] += cpuSeconds(pid) - before;
  };
  let answers = 0;
  for (let round = 0; round < Number(options.rounds); round += 1) {
    await submit('alone');
    const ofRound = await withStranger(facts, () => submit('attacked'));
    answers += ofRound;
    // The time between two answers on one of the eight connections.
    const other = await startControl((Number(options.seconds) * 8_000) / Math.max(1, ofRound));
    await withStranger({ ...facts, port: other.port }, () => submit('control'));
    await other.stop();
  }
  const latencies = [0.5, 0.99].flatMap((part) => {
    const [alone = 0, control = 0, attacked = 0] = Object.values(phases).map((taken) => share(taken, part));
    return [...[alone, control, attacked].map((ms) => ms.toFixed(1)), (attacked / control).toFixed(2)];
  });
  const seconds = Object.values(cpu).map((each) => each.toFixed(1));
  return `| ${[facts.name, phases.alone.length, ...latencies, answers, ...seconds].join(' | ')} |`;
}

const phaseNames = ['alone', 'beside another server', 'attacked'];

async function measure(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  // As root, PostgreSQL runs as a user who must be able to enter.
  await chmod(folder, 0o755);
  const { dataDir, key } = await prepareFolder(path.join(folder, 'accord'), 0);
  const { RATE_LIMITS: _limits, MAX_EVENT_LOOP_DELAY: _delay, ...settings } = accordSettings(dataDir);
  const server = await startServer('services/standalone.ts', settings);
  const { port } = server;
  const client = createHttpClient({ port, connections: 64 });
  try {
    const links = await makeLinks(port, key);
    await submissions({ client, key });
    const latencies = ['p50', 'p99'].flatMap((part) => [
      ...phaseNames.map((name) => `${part} ${name}`),
      'ratio',
    ]);
    const columns = [
      'Stranger',
      'Submissions',
      ...latencies,
      'Answers',
      ...phaseNames.map((name) => `CPU s ${name}`),
    ];
    process.stdout.write(`| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}\n`);
    for (const name of options.attack?.split(',') ?? attacks) {
      const facts = { name, port, address: options.address, ...links };
      process.stdout.write(`${await measureAttack({ client, key }, server, facts)}\n`);
    }
  } finally {
    client.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await measure();
