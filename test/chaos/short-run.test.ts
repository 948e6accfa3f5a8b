import { randomInt } from 'node:crypto';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from './random.ts';
import { runChaos } from './run-chaos.ts';
import { startStandaloneWorld } from './world/standalone-world.ts';

/** CHAOS_SEED=… draws the same numbers again. */
const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31));
console.log(`CHAOS_SEED=${seed}`);

it('what was acknowledged is there once, whatever happens to PostgreSQL and on the way to it', async () => {
  const random = createRandom(seed);
  const project = path.join(import.meta.dirname, '..', '..');
  const world = await startStandaloneWorld({ project, random });
  onTestFinished(world.stop);
  const { breaches, history, lostReplies } = await runChaos({
    world,
    random,
    blows: world.faults.filter(({ breaks }) => breaks === 'PostgreSQL').map((fault) => [fault]),
    between: [20, 100],
    crowd: { people: 8, restMs: 20 },
  });
  expect(breaches).toEqual([]);
  expect(history.filter(({ told }) => told === 'acknowledged').length).toBeGreaterThan(200);
  expect(lostReplies).toBeGreaterThan(0);
});
