import type { Fault } from '../faults/fault.ts';
import { createRandom } from '../random.ts';
import { runChaos } from '../run-chaos.ts';
import { startStandaloneWorld } from '../world/standalone-world.ts';
import { copyWithPatch } from './copy-with-patch.ts';
import type { Plant } from './plants.ts';

const crowd = { people: 16, restMs: 0 };

/** Runs a copy with a bug in it for a few seconds. @returns what the checker finds. */
export async function breachesOf({ patch, faults, between = [150, 250] }: Plant): Promise<string[]> {
  const random = createRandom(1);
  const copy = await copyWithPatch(patch);
  try {
    const world = await startStandaloneWorld({ project: copy.project, random, patienceMs: 3_000 });
    try {
      const blows = faults.map((name) => [named(world.faults, name)]);
      return (await runChaos({ world, random, blows, between, crowd, patienceMs: 10_000 })).breaches;
    } finally {
      await world.stop();
    }
  } finally {
    await copy.remove();
  }
}

function named(faults: readonly Fault[], name: string): Fault {
  const fault = faults.find((each) => each.name === name);
  if (!fault) throw new Error(`There is no fault "${name}".`);
  return fault;
}
