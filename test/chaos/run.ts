import { randomInt } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { drawBlows } from './draw-blows.ts';
import { createRandom } from './random.ts';
import { writeReport } from './report.ts';
import { runChaos } from './run-chaos.ts';
import { startDistributedWorld } from './world/distributed-world.ts';
import { startStandaloneWorld } from './world/standalone-world.ts';

// `npm run chaos -- --seed 1 --minutes 10`: an instance under load, one blow after the other, and then a look at all that it promised.
// Exit 1 on any breach.

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '2' },
    people: { type: 'string', default: '8' },
    /** `distributed`: two replicas of each service on PostgreSQL, Kafka and Redis. `standalone`: one process on PostgreSQL. */
    on: { type: 'string', default: 'distributed' },
    only: { type: 'string', default: '' },
  },
});
const seed = Number(values.seed ?? randomInt(2 ** 31));
const minutes = Number(values.minutes);
const random = createRandom(seed);
const project = path.join(import.meta.dirname, '..', '..');
const folder = await mkdtemp(path.join(tmpdir(), 'accord-chaos-report-'));
const say = (line: string) => void process.stdout.write(`${line}\n`);

say(`seed ${seed}, ${minutes} minutes; history and logs in ${folder}`);
const start = values.on === 'standalone' ? startStandaloneWorld : startDistributedWorld;
const world = await start({ project, random, logFolder: folder });
const end = Date.now() + minutes * 60_000;
try {
  const faults = world.faults.filter(({ name }) => new RegExp(values.only).test(name));
  const outcome = await runChaos({
    world,
    random,
    blows: drawBlows(faults, random),
    between: [20, 300],
    crowd: { people: Number(values.people), restMs: 100 },
    goOn: () => Date.now() < end,
    historyFile: path.join(folder, 'history.jsonl'),
    say,
  });
  say(writeReport(outcome, { seed, minutes }));
  process.exitCode = outcome.breaches.length > 0 ? 1 : 0;
} finally {
  await world.stop();
}
