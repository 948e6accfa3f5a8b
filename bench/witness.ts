import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import { startStandalone } from '../test/support/instances/standalone-process.ts';
import { playLogs } from '../test/support/peers/played-logs.ts';

// An instance as a witness: updates of the logs of several peers at an even rate, each log one after the
// other. The instance commits each head before it cosigns.

const { values: options } = parseArgs({
  options: {
    peers: { type: 'string', default: '10' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    out: { type: 'string' },
  },
});
const [count, rate, seconds] = [options.peers, options.rate, options.seconds].map(Number) as [
  number,
  number,
  number,
];
const most = Math.ceil((rate * seconds) / (count * auditAreas.length)) + 1;

const folder = await mkdtemp(path.join(tmpdir(), 'accord-witness-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const played: Awaited<ReturnType<typeof playLogs>>[] = [];
const accord = startStandalone({ DATA_DIR: path.join(folder, 'data') });
try {
  const url = await accord.ready;
  const reachable = { url, fetch: (to: string, init?: RequestInit) => fetch(new URL(to, url), init) };
  played.push(...(await Promise.all(Array.from({ length: count }, () => playLogs(reachable, most)))));
  const logs = played.flatMap(({ logs: ofOne }) => ofOne);
  const took: number[] = [];
  const wrong: number[] = [];
  const started = performance.now();
  const running = logs.map(async (log, order) => {
    let size = 1;
    for (let turn = 0; ; turn += 1) {
      const due = started + ((turn * logs.length + order) / rate) * 1000;
      if (due > started + seconds * 1000) return;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      const began = performance.now();
      const { status } = await log.send(size, size - 1);
      took.push(performance.now() - began);
      // A failed update is sent again at the next turn, as a log does.
      if (status === 200) size += 1;
      else wrong.push(status);
    }
  });
  await Promise.all(running);
  const reached = took.length / ((performance.now() - started) / 1000);
  took.sort((a, b) => a - b);
  const quantile = (q: number) => Math.round(took[Math.floor(took.length * q)] ?? 0);
  const text = `| logs | updates a second | p50 | p99 | not cosigned |
|---:|---:|---:|---:|---:|
| ${logs.length} | ${reached.toFixed(0)} | ${quantile(0.5)} ms | ${quantile(0.99)} ms | ${wrong.length} |
`;
  process.stdout.write(text);
  if (wrong.length > 0) process.stdout.write(`${JSON.stringify(Object.groupBy(wrong, String))}\n`);
  if (options.out) await writeFile(options.out, text);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await Promise.all(played.map(({ peer }) => peer.close()));
  await accord.stop();
  await rm(folder, { recursive: true, force: true });
}
