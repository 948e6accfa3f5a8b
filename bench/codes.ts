import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createHttpClient } from './http-client.ts';
import { accordSettings, prepareFolder } from './prepare-folder.ts';
import { watchStolen } from './process-usage.ts';
import { demonstration } from './run-flow.ts';
import { addPhases, type Phase, percentile, runPhase } from './run-phase.ts';
import { startServer } from './start-server.ts';

// Measures what a confirmation with FORM_CODE adds to a flow, in turn on one server. It asserts nothing.

const { values: options } = parseArgs({
  options: {
    flows: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    concurrency: { type: 'string', default: '16' },
    output: { type: 'string', default: fileURLToPath(new URL('results-codes.md', import.meta.url)) },
  },
});
const flows = Number(options.flows);
const rounds = Number(options.rounds);
const concurrency = Number(options.concurrency);
const kinds = {
  'without a code': demonstration,
  FORM_CODE: { ...demonstration, confirmation: 'FORM_CODE' as const },
};
type Kind = keyof typeof kinds;
const names = Object.keys(kinds) as Kind[];

const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const running: { stop(): Promise<void> }[] = [];
try {
  const { dataDir, key } = await prepareFolder(path.join(folder, 'accord'), 1);
  const server = await startServer('services/standalone.ts', accordSettings(dataDir));
  const client = createHttpClient({ port: server.port, connections: concurrency });
  running.push(server);
  const stolen = watchStolen();
  const phases: Record<Kind, Phase[]> = { 'without a code': [], FORM_CODE: [] };
  let order = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of round % 2 === 0 ? names : names.toReversed()) {
      const first = order;
      order += flows;
      const subjectOf = (flow: number) => ({ subject: `new-${first + flow}`, order: first + flow });
      const target = { client, key, questions: kinds[kind], pids: [server.pid] };
      const phase = await runPhase(target, { flows, concurrency, subjectOf });
      // The first round is the warm-up.
      if (round > 0) phases[kind].push(phase);
      process.stderr.write(`round ${round}, ${kind}: ${cost(phase).toFixed(2)} ms of CPU a flow\n`);
    }
  }
  client.close();
  const report = writeReport(phases, stolen());
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const server of running) await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Milliseconds of CPU for each flow. */
function cost({ cpuSeconds, flows: done }: Phase): number {
  return (cpuSeconds / done) * 1000;
}

function writeReport(phases: Record<Kind, Phase[]>, stolen: number | undefined): string {
  const sums = names.map((name) => ({ name, phase: addPhases(phases[name]) }));
  const base = cost(sums[0]?.phase as Phase);
  const rows = sums.map(({ name, phase }) => {
    const confirm = name === 'FORM_CODE' ? percentile(phase.times.confirm, 0.99).toFixed(0) : '–';
    const submit = percentile(phase.times.submit, 0.99).toFixed(0);
    const own = cost(phase);
    return `| ${name} | ${own.toFixed(2)} | ${(own / base).toFixed(2)} | ${submit} | ${confirm} |`;
  });
  return [
    '# What a code adds to a flow',
    '',
    `\`${['npm run bench:codes', ...process.argv.slice(2)].join(' ')}\`: ${rounds} rounds of ${flows} flows of each kind, in turn on one server, ${concurrency} at a time.`,
    `With FORM_CODE a flow has three requests more: the redirect to the page of the code, the page, and the code.${stolen === undefined ? '' : ` The host gave ${(stolen * 100).toFixed(0)} % of the CPU to others.`}`,
    '',
    '| Flow | CPU, ms | Ratio | submit p99, ms | confirm p99, ms |',
    '|---|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n');
}
