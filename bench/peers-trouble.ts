import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pair, startOrganisation } from './peers-world.ts';
import { rest } from './rest.ts';
import { startPostgres } from './start-postgres.ts';
import { startTrouble, type Trouble, troubles } from './trouble-maker.ts';
import { measureNeighbours, type Neighbours, type Square } from './trouble-neighbours.ts';
import { writeTroubleReport } from './trouble-report.ts';

// One of two peers is in trouble, or makes it: what becomes of everybody else. It asserts nothing: figures
// are for reading.

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    output: { type: 'string', default: fileURLToPath(new URL('results-peers-trouble.md', import.meta.url)) },
  },
});
const [rate, seconds, rounds] = [options.rate, options.seconds, options.rounds].map(Number) as [
  number,
  number,
  number,
];

const parts: { stop(): Promise<unknown> }[] = [];
function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
  parts.push(part);
  return part;
}

try {
  const loadBefore = loadavg()[0] ?? 0;
  const { square, secrets } = await startAll();
  const seen = await measure(square, secrets);
  const report = writeTroubleReport({
    seen,
    rate,
    seconds,
    rounds,
    loads: [loadBefore, loadavg()[0] ?? 0],
    command: ['npm run bench -- trouble', ...process.argv.slice(2)].join(' '),
  });
  await writeFile(options.output, report);
  process.stdout.write(`\n${report}`);
} finally {
  for (const part of parts.reverse()) await part.stop();
}

async function startAll(): Promise<{ square: Square; secrets: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-bench-'));
  // As root, PostgreSQL runs as a user who must be able to enter.
  await chmod(folder, 0o755);
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const postgres = keep(await startPostgres({ track_commit_timestamp: 'on' }));
  const start = async (name: string) => keep(await startOrganisation({ postgres, folder }, name));
  const [leader, well, ill] = [await start('hospital'), await start('laboratory'), await start('council')];
  for (const owner of [well, ill]) await pair(leader, owner);
  // From here on somebody else answers at its address.
  await ill.stop();
  return { square: { postgres, leader, well, ill }, secrets: path.join(folder, 'council', 'secrets') };
}

/** Every trouble in each round, in another order each time; the first round warms up. */
async function measure(square: Square, secrets: string): Promise<Record<Trouble, Neighbours[]>> {
  const seen = Object.fromEntries(troubles.map((trouble) => [trouble, [] as Neighbours[]])) as Record<
    Trouble,
    Neighbours[]
  >;
  for (let round = 0; round <= rounds; round += 1) {
    const order = troubles.map((_, index) => troubles[(index + round) % troubles.length] as Trouble);
    for (const trouble of order) {
      await rest();
      const maker = await startTrouble(trouble, { ...square, secrets });
      try {
        const measured = await measureNeighbours(square, {
          rate,
          seconds: round === 0 ? Math.min(5, seconds) : seconds,
          name: `${trouble}-${round}`,
          isAsked: trouble !== 'none',
        });
        if (round > 0) seen[trouble].push({ ...measured, ...maker.seen() });
        process.stderr.write(`round ${round} of ${rounds}: ${trouble}\n`);
      } finally {
        await maker.stop();
      }
    }
  }
  return seen;
}
