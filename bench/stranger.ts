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

// How much a stranger slows the submissions of others, under the default limits: for each attack, rounds
// without and with it in turn. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    flows: { type: 'string', default: '10' },
    /** One of bench/stranger-attacks.ts; default: all. */
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
  const pathOf = (url = '') => url.slice(url.indexOf('/', 'https://'.length));
  return { form: pathOf(open.form), receipt: pathOf(answered.receipt) };
}

async function measure(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  // As root, PostgreSQL runs as a user who must be able to enter.
  await chmod(folder, 0o755);
  const { dataDir, key } = await prepareFolder(path.join(folder, 'accord'), 0);
  const { RATE_LIMITS: _limits, MAX_EVENT_LOOP_DELAY: _delay, ...settings } = accordSettings(dataDir);
  const server = await startServer('services/standalone.ts', settings);
  const client = createHttpClient({ port: server.port, connections: 64 });
  try {
    const links = await makeLinks(server.port, key);
    await submissions({ client, key });
    for (const name of options.attack ? [options.attack] : attacks) {
      const [alone, beside]: [number[], number[]] = [[], []];
      let cpu = 0;
      for (let round = 0; round < Number(options.rounds); round += 1) {
        alone.push(...(await submissions({ client, key })));
        const workerData = { name, port: server.port, ...links } satisfies Attack;
        const stranger = new Worker(new URL('stranger-attacks.ts', import.meta.url), { workerData });
        const before = cpuSeconds(server.pid);
        beside.push(...(await submissions({ client, key })));
        cpu += cpuSeconds(server.pid) - before;
        await stranger.terminate();
      }
      const figures = [alone, beside].map((taken) =>
        [0.5, 0.99].map((part) => share(taken, part).toFixed(1)),
      );
      process.stdout.write(
        `${name}: ${alone.length} submissions alone p50 and p99 ${figures[0]?.join(' and ')} ms, with the stranger ${figures[1]?.join(' and ')} ms; CPU of the server ${cpu.toFixed(1)} s\n`,
      );
    }
  } finally {
    client.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await measure();
