import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { accordSettings, returningSubject } from './prepare-folder.ts';
import { costPer1000, type Kind, kinds } from './report.ts';
import { addPhases, type Phase, percentile, runPhase } from './run-phase.ts';
import type { ServerProcess } from './start-server.ts';

// The full flow against this checkout and another one: `npm run bench -- beside FOLDER`.
// That folder has its packages installed. It asserts nothing: figures are for reading.

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    flows: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '8' },
    concurrency: { type: 'string', default: '16' },
  },
});
const [flows, rounds, concurrency] = [options.flows, options.rounds, options.concurrency].map(Number) as [
  number,
  number,
  number,
];

interface Contestant {
  name: string;
  server: ServerProcess;
  client: HttpClient;
  key: string;
  phases: { round: number; kind: Kind; phase: Phase }[];
}

const data = await mkdtemp(path.join(tmpdir(), 'accord-beside-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(data, 0o755);
const contestants: Contestant[] = [];
let orders = 0;

/** Starts a checkout with its own programs, because its schema may differ. */
async function enter(name: string, root: string): Promise<void> {
  const own = (file: string) => import(path.resolve(root, 'bench', file));
  const { prepareFolder } = await own('prepare-folder.ts');
  const { startServer } = await own('start-server.ts');
  const { dataDir, key } = await prepareFolder(path.join(data, name), flows);
  const server: ServerProcess = await startServer('services/standalone.ts', accordSettings(dataDir));
  const client = createHttpClient({ port: server.port, connections: concurrency });
  contestants.push({ name, server, client, key, phases: [] });
}

async function run({ server, client, key, phases }: Contestant, kind: Kind, round: number): Promise<void> {
  const first = orders;
  orders += flows;
  const subjectOf = (flow: number) => ({
    subject: kind === 'new' ? `new-${first + flow}` : returningSubject(flow),
    order: first + flow,
  });
  const phase = await runPhase({ client, key, pids: [server.pid] }, { flows, concurrency, subjectOf });
  // The first round warms up.
  if (round > 0) phases.push({ round, kind, phase });
}

/** What a flow cost here, beside there: above 1, this checkout is better. */
function ratio(
  of: (phase: Phase) => number,
  filter: (each: Contestant['phases'][number]) => boolean,
): number {
  const [here, there] = contestants.map(({ phases }) =>
    of(addPhases(phases.filter(filter).map(({ phase }) => phase))),
  ) as [number, number];
  return there / here;
}

try {
  await enter('here', path.join(import.meta.dirname, '..'));
  await enter('there', positionals[0] ?? '.');
  for (let round = 0; round <= rounds; round += 1)
    for (const kind of kinds)
      for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed())
        await run(contestant, kind, round);
  const byRound = Array.from({ length: rounds }, (_, index) =>
    ratio(costPer1000, ({ round }) => round === index + 1),
  ).sort((one, other) => one - other);
  const lines = [
    `flows per CPU second, here beside there: ${ratio(costPer1000, () => true).toFixed(3)}, by round ${byRound.map((each) => each.toFixed(2)).join(' ')}, median ${percentile(byRound, 0.5).toFixed(3)}`,
    ...kinds.flatMap((kind) => [
      `${kind}: per CPU second ${ratio(costPer1000, (each) => each.kind === kind).toFixed(3)}, per second ${ratio(
        ({ seconds }) => seconds,
        (each) => each.kind === kind,
      ).toFixed(3)}`,
      ...contestants.map(({ name, phases }) => {
        const all = addPhases(phases.filter((each) => each.kind === kind).map(({ phase }) => phase));
        const submit = all.times.submit;
        return `  ${name}: ${costPer1000(all).toFixed(2)} CPU seconds per 1,000 flows, submit p50 ${percentile(submit, 0.5).toFixed(1)} ms, p99 ${percentile(submit, 0.99).toFixed(1)} ms`;
      }),
    ]),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  for (const { client, server } of contestants) {
    client.close();
    await server.stop();
  }
  await rm(data, { recursive: true, force: true });
}
