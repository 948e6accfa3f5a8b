import { randomInt } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { brokenPromises } from '../check/find-breaches.ts';
import { createRandom, drawBlows } from '../random.ts';
import type { Forgotten } from './back-up.ts';
import { startFederatedWorld, startOwnDatabases } from './federated-world.ts';
import { runPeers } from './run-peers.ts';

// `npm run chaos:peers -- --seed 1 --minutes 10`: two instances that are peers under load, one blow after the
// other to them and to what is between them, and then a look at what both hold. Exit 1 on any breach.

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '2' },
    people: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const seed = Number(values.seed ?? randomInt(2 ** 31));
const random = createRandom(seed);
const folder = await mkdtemp(path.join(tmpdir(), 'accord-chaos-peers-report-'));
const say = (line: string) => void process.stdout.write(`${line}\n`);
say(`seed ${seed}, ${values.minutes} minutes; history and logs in ${folder}`);
const databases = await startOwnDatabases();
try {
  const world = await startFederatedWorld({
    random,
    logFolder: folder,
    databaseUrls: databases.urls,
  });
  try {
    const faults = world.faults.filter(({ name }) => new RegExp(values.only).test(name));
    const end = Date.now() + Number(values.minutes) * 60_000;
    const outcome = await runPeers({
      world,
      random,
      blows: drawBlows(faults, random),
      between: [5, 60],
      say,
      crowd: { people: Number(values.people), restMs: 100 },
      goOn: () => Date.now() < end,
      historyFile: path.join(folder, 'history.jsonl'),
    });
    const { history, meter, parts, struck } = outcome;
    const breaches = [...outcome.breaches, ...brokenPromises(struck, meter)];
    const acknowledged = history.filter(({ kind, told }) => kind === 'submit' && told === 'acknowledged');
    say(
      `${struck.length} blows, ${acknowledged.length} submits acknowledged; parts of answers by what became of them:`,
    );
    const forgotten = [world.leader, world.owner].flatMap((side) => side.forgotten);
    const count = (of: keyof Forgotten) => forgotten.reduce((sum, each) => sum + each[of].length, 0);
    say(
      `forgotten in ${forgotten.length} restorations: ${count('transactions')} states, ${count('parts')} parts sent, ${count('submissions')} taken`,
    );
    for (const [state, those] of Map.groupBy(parts, (part) => part.state)) say(`  ${state} ${those.length}`);
    for (const breach of breaches.slice(0, 40)) say(`- ${breach}`);
    say(breaches.length === 0 ? 'PASSED' : `FAILED: ${breaches.length} breaches`);
    process.exitCode = breaches.length === 0 ? 0 : 1;
  } finally {
    await world.stop();
  }
} finally {
  await databases.stop();
}
// A connection that a fault left half closed can keep Node.js busy for ever when it ends by itself: libuv
// waits for it in a circle.
process.exit();
