import { randomInt } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom, drawBlows } from './random.ts';
import { type Outcome, runChaos } from './run-chaos.ts';
import { countAnswers, countFaults, type Goal, judge, writeReport } from './verdict.ts';
import { startDistributedWorld } from './world/distributed-world.ts';
import { startStandaloneWorld } from './world/standalone-world.ts';

// `npm run chaos -- --seed 1 --minutes 10`: an instance under load, one blow after the other, and then a look
// at all that it promised. With --faults and --answers it goes on after its minutes, for as long again, until
// there were so many. Exit 1 on any breach or goal that was missed.

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '2' },
    people: { type: 'string', default: '8' },
    /**
     * `distributed`: two replicas of each service on PostgreSQL, Kafka and Redis. `standalone`: one process
     * on PostgreSQL.
     */
    on: { type: 'string', default: 'distributed' },
    only: { type: 'string', default: '' },
    faults: { type: 'string', default: '0' },
    answers: { type: 'string', default: '0' },
    report: { type: 'string' },
  },
});
const seed = Number(values.seed ?? randomInt(2 ** 31));
const minutes = Number(values.minutes);
const goal: Goal = { faults: Number(values.faults), answers: Number(values.answers) };
const random = createRandom(seed);
const folder = await mkdtemp(path.join(tmpdir(), 'accord-chaos-report-'));
const reportFile = path.resolve(values.report ?? path.join(folder, 'report.md'));
const say = (line: string) => void process.stdout.write(`${line}\n`);

say(`seed ${seed}, ${minutes} minutes; history and logs in ${folder}`);
const start = values.on === 'standalone' ? startStandaloneWorld : startDistributedWorld;
const world = await start({ random, logFolder: folder });
const began = Date.now();
const end = began + minutes * 60_000;
const reached = (done: Pick<Outcome, 'struck' | 'history'>) =>
  countFaults(done) >= goal.faults && countAnswers(done.history) >= goal.answers;
try {
  const faults = world.faults.filter(({ name }) => new RegExp(values.only).test(name));
  const outcome = await runChaos({
    world,
    random,
    blows: drawBlows(faults, random),
    between: [20, 300],
    crowd: { people: Number(values.people), restMs: 100 },
    goOn: (done) => Date.now() < end || (Date.now() < end + minutes * 60_000 && !reached(done)),
    historyFile: path.join(folder, 'history.jsonl'),
    say,
  });
  const verdict = judge(outcome, goal);
  const command = ['npm run chaos --', ...process.argv.slice(2)].join(' ');
  const report = writeReport(outcome, verdict, {
    command,
    seconds: Math.round((Date.now() - began) / 1_000),
  });
  await writeFile(reportFile, report);
  say(`\n${report}\n${reportFile}`);
  const failed = verdict.filter(({ good }) => !good);
  say(
    failed.length === 0 ? 'PASSED' : `FAILED: ${failed.map(({ what, got }) => `${what}: ${got}`).join('; ')}`,
  );
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  await world.stop();
}
// A connection that a fault left half closed can keep Node.js busy for ever when it ends by itself: libuv
// waits for it in a circle.
process.exit();
