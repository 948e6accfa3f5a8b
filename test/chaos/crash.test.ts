import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from './random.ts';
import { runChaos } from './run-chaos.ts';
import { startEmbeddedWorld } from './world/embedded-world.ts';

/** The same numbers each time, or those of CHAOS_SEED=…; `npm run chaos` draws others. */
const seed = Number(process.env.CHAOS_SEED ?? 4);

it('stores every acknowledged change exactly once, whenever the process or its PostgreSQL is killed', async () => {
  const world = await startEmbeddedWorld();
  onTestFinished(world.stop);
  const { breaches, history } = await runChaos({
    world,
    random: createRandom(seed),
    blows: world.faults.map((fault) => [fault]),
    between: [20, 80],
    crowd: { people: 8, restMs: 0 },
  });
  expect(breaches).toEqual([]);
  const told = history.map((line) => line.told);
  expect(told.filter((each) => each === 'acknowledged').length).toBeGreaterThan(100);
  expect(told).toContain('unknown');
});
