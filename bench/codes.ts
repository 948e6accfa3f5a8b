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

// Measures what FORM_CODE adds to a flow, of Accord and of a bare server. It asserts nothing.

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
const kindNames = Object.keys(kinds) as Kind[];
const systems = ['Accord', 'bare'] as const;
type System = (typeof systems)[number];
const phases = {
  Accord: { 'without a code': [], FORM_CODE: [] },
  bare: { 'without a code': [], FORM_CODE: [] },
} as Record<System, Record<Kind, Phase[]>>;

const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const running: { stop(): Promise<void> }[] = [];
try {
  const accord = await prepareFolder(path.join(folder, 'accord'), 1);
  const bare = await prepareFolder(path.join(folder, 'bare'), 1);
  const samples = path.join(folder, 'samples.json');
  await writeFile(samples, JSON.stringify(bare));
  const start = async (program: string, environment: Record<string, string>, key: string) => {
    const server = await startServer(program, environment);
    running.push(server);
    return {
      client: createHttpClient({ port: server.port, connections: concurrency }),
      key,
      pids: [server.pid],
    };
  };
  const targets = {
    Accord: await start('services/standalone.ts', accordSettings(accord.dataDir), accord.key),
    bare: await start('bench/baseline-server.ts', { DATA_DIR: bare.dataDir, SAMPLES: samples }, bare.key),
  };
  const stolen = watchStolen();
  let order = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const turns = systems.flatMap((system) => kindNames.map((kind) => ({ system, kind })));
    for (const { system, kind } of round % 2 === 0 ? turns : turns.toReversed()) {
      const first = order;
      order += flows;
      const subjectOf = (flow: number) => ({ subject: `new-${first + flow}`, order: first + flow });
      const target = { ...targets[system], questions: kinds[kind] };
      const phase = await runPhase(target, { flows, concurrency, subjectOf });
      // The first round is the warm-up.
      if (round > 0) phases[system][kind].push(phase);
      process.stderr.write(
        `round ${round}, ${system}, ${kind}: ${cost(phase).toFixed(2)} ms of CPU a flow\n`,
      );
    }
  }
  for (const { client } of Object.values(targets)) client.close();
  const report = writeReport(stolen());
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

function writeReport(stolen: number | undefined): string {
  const rows = systems.flatMap((system) =>
    kindNames.map((kind) => {
      const phase = addPhases(phases[system][kind]);
      const base = addPhases(phases[system]['without a code']);
      const confirm = kind === 'FORM_CODE' ? percentile(phase.times.confirm, 0.99).toFixed(0) : '–';
      const submit = percentile(phase.times.submit, 0.99).toFixed(0);
      const own = cost(phase);
      return `| ${system}, ${kind} | ${own.toFixed(2)} | ${(own / cost(base)).toFixed(2)} | ${submit} | ${confirm} |`;
    }),
  );
  return [
    '# What a code adds to a flow',
    '',
    `\`${['npm run bench:codes --', ...process.argv.slice(2)].join(' ')}\`: ${rounds} rounds of ${flows} flows of each kind, in turn, ${concurrency} at a time.`,
    `With FORM_CODE a flow has eight requests instead of five: the redirect to the page of the code, the page, and the code.${stolen === undefined ? '' : ` The host gave ${(stolen * 100).toFixed(0)} % of the CPU to others.`}`,
    'The bare server runs Accord’s statements and sends constant pages (bench/baseline-server.ts).',
    '',
    '| Flow | CPU, ms | Ratio | submit p99, ms | confirm p99, ms |',
    '|---|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n');
}
