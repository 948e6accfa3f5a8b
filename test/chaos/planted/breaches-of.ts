import { findFault } from '../faults/fault.ts';
import { startFederatedWorld, startOwnDatabases } from '../peers/federated-world.ts';
import { runPeers } from '../peers/run-peers.ts';
import { createRandom } from '../random.ts';
import { runChaos } from '../run-chaos.ts';
import { startDistributedWorld } from '../world/distributed-world.ts';
import { startStandaloneWorld } from '../world/standalone-world.ts';
import type { Bug } from './bug.ts';
import { bugs } from './bugs.ts';

/** Runs Accord with a bug for a few seconds. @param name in bugs.ts. @returns what the checker finds. */
export async function breachesOf(name: string): Promise<string[]> {
  const bug = bugs[name];
  if (!bug) throw new Error(`There is no bug ${name}.`);
  return bug.world === 'peers' ? breachesOfPeers(name, bug) : breachesOfOne(name, bug);
}

async function breachesOfOne(
  name: string,
  { faults, between = [150, 250], world: kind }: Bug,
): Promise<string[]> {
  const random = createRandom(1);
  const start = kind === 'distributed' ? startDistributedWorld : startStandaloneWorld;
  const world = await start({ bug: name, random, patienceMs: 3_000 });
  try {
    const blows = faults.map((fault) => [findFault(world.faults, fault)]);
    const crowd = { people: 16, restMs: 0 };
    return (await runChaos({ world, random, blows, between, crowd, patienceMs: 10_000 })).breaches;
  } finally {
    await world.stop();
  }
}

async function breachesOfPeers(name: string, { faults, between = [10, 20] }: Bug): Promise<string[]> {
  const random = createRandom(1);
  const databases = await startOwnDatabases();
  try {
    const world = await startFederatedWorld({ bug: name, random, databaseUrls: databases.urls });
    try {
      const blows = faults.map((fault) => [findFault(world.faults, fault)]);
      const crowd = { people: 6, restMs: 20 };
      return (await runPeers({ world, random, blows, between, crowd, patienceMs: 30_000 })).breaches;
    } finally {
      await world.stop();
    }
  } finally {
    await databases.stop();
  }
}
