import { findFault } from '../../faults/find-fault.ts';
import { startFederatedWorld } from '../../peers/federated-world.ts';
import { startOwnDatabases } from '../../peers/own-databases.ts';
import { runPeers } from '../../peers/run-peers.ts';
import { createRandom } from '../../random.ts';
import { copyWithPatch } from '../copy-with-patch.ts';
import type { Plant } from '../plants.ts';

const crowd = { people: 6, restMs: 20 };

/** Runs two instances of a copy with a bug in it for a few seconds. @returns what the checker finds. */
export async function breachesOfPeers({ patch, faults, between = [10, 20] }: Plant): Promise<string[]> {
  const random = createRandom(1);
  const copy = await copyWithPatch(patch);
  try {
    const databases = await startOwnDatabases();
    try {
      const world = await startFederatedWorld({
        random,
        project: copy.project,
        databaseUrls: databases.urls,
      });
      try {
        const blows = faults.map((name) => [findFault(world.faults, name)]);
        return (await runPeers({ world, random, blows, between, crowd, patienceMs: 30_000 })).breaches;
      } finally {
        await world.stop();
      }
    } finally {
      await databases.stop();
    }
  } finally {
    await copy.remove();
  }
}
