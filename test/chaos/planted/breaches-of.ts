import { findFault } from '../faults/find-fault.ts';
import { createRandom } from '../random.ts';
import { runChaos } from '../run-chaos.ts';
import { startDistributedWorld } from '../world/distributed-world.ts';
import { startStandaloneWorld } from '../world/standalone-world.ts';
import { copyWithPatch } from './copy-with-patch.ts';
import type { Plant } from './plants.ts';

const crowd = { people: 16, restMs: 0 };

/** Runs a copy with a bug in it for a few seconds. @returns what the checker finds. */
export async function breachesOf({
  patch,
  faults,
  between = [150, 250],
  distributed,
}: Plant): Promise<string[]> {
  const random = createRandom(1);
  const copy = await copyWithPatch(patch);
  try {
    const start = distributed ? startDistributedWorld : startStandaloneWorld;
    const world = await start({ project: copy.project, random, patienceMs: 3_000 });
    try {
      const blows = faults.map((name) => [findFault(world.faults, name)]);
      return (await runChaos({ world, random, blows, between, crowd, patienceMs: 10_000 })).breaches;
    } finally {
      await world.stop();
    }
  } finally {
    await copy.remove();
  }
}
