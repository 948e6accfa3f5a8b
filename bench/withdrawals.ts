import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createHttpClient } from './http-client.ts';
import { accordSettings, createKey } from './prepare-folder.ts';
import { machine } from './report.ts';
import { percentile } from './run-phase.ts';
import { startServer } from './start-server.ts';

// How long withdrawals take at a fixed rate, from the moment at which each is due. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '150' },
    seconds: { type: 'string', default: '20' },
    output: { type: 'string', default: fileURLToPath(new URL('results-withdrawals.md', import.meta.url)) },
  },
});
const [rate, seconds] = [Number(options.rate), Number(options.seconds)];
const letter = 'element/processing/processing.001/1.0';
const before = loadavg()[0] ?? 0;

const folder = await mkdtemp(path.join(tmpdir(), 'accord-withdrawals-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const server = await startServer('services/standalone.ts', accordSettings(path.join(folder, 'data')));
const client = createHttpClient({ port: server.port, connections: 64 });
try {
  const headers = { CM_KEY: await createKey(server.port), 'Content-Type': 'application/json' };
  const post = async (address: string, body: object) => {
    const reply = await client.post(address, headers, JSON.stringify(body));
    if (reply.status !== 201) throw new Error(`${address}: ${reply.status} ${reply.body}`);
    return JSON.parse(reply.body) as { id: string };
  };
  const given: string[] = [];
  let number = 0;
  const give = async () => {
    while (number < rate * seconds) {
      number += 1;
      const context = { subject: `person ${number}`, layoutData: { elements: ['processing.001'] } };
      given.push((await post('/consents/singlestep', { context, values: { [letter]: ['accepted'] } })).id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, give));
  const started = performance.now();
  const times = await Promise.all(
    given.map(async (id, order) => {
      const due = started + (order / rate) * 1000;
      await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
      await post(`/consents/${id}/withdraw`, {});
      return performance.now() - due;
    }),
  );
  times.sort((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(times, share).toFixed(0));
  const reached = times.length / ((performance.now() - started) / 1000);
  const report = [
    '# Withdrawals',
    '',
    `\`npm run bench -- withdrawals\`: each is a transaction with a signed receipt, and ends what was in force. One process as \`npm start\``,
    'runs it. Times from the moment at which each was due.',
    '',
    `Machine: ${machine()}. Load average before the run ${before.toFixed(1)}.`,
    '',
    '| withdrawals a second | number | p50 ms | p95 ms | p99 ms |',
    '|---:|---:|---:|---:|---:|',
    `| ${reached.toFixed(0)} | ${times.length} | ${p50} | ${p95} | ${p99} |`,
    '',
  ].join('\n');
  await writeFile(options.output, report);
  process.stdout.write(report);
} finally {
  client.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
