import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../../support/stores/postgres.ts';
import { findFault } from '../faults/fault.ts';
import { createRandom } from '../random.ts';
import { startFederatedWorld } from './federated-world.ts';
import { runPeers } from './run-peers.ts';

/** The same numbers each time, or those of CHAOS_SEED=…; `npm run chaos` draws others. */
const seed = Number(process.env.CHAOS_SEED ?? 4);

/** Some of everything; `npm run chaos:peers` has all of it, in any order. */
const blows = [
  ['reply lost after the owner’s COMMIT'],
  ['owner restored from an older backup', 'owner answering garbage'],
  ['answers mixed up', 'connections of owner to PostgreSQL cut'],
  ['leader restored from an older backup', 'requests arriving twice'],
  ['mail server away', 'kill -9 of leader'],
  ['keys of owner rotated', 'owner refusing everything'],
];

it('two peers lose and duplicate nothing, and answers take effect on both sides or on neither, despite faults', async () => {
  const random = createRandom(seed);
  const databases = [await createTestDatabase(), await createTestDatabase()] as const;
  onTestFinished(async () => {
    for (const database of databases) await database.drop();
  });
  const world = await startFederatedWorld({
    random,
    databaseUrls: [databases[0].url, databases[1].url],
  });
  onTestFinished(world.stop);
  const { breaches, history, parts } = await runPeers({
    world,
    random,
    between: [3, 8],
    crowd: { people: 3, restMs: 400 },
    patienceMs: 120_000,
    blows: blows.map((names) => names.map((name) => findFault(world.faults, name))),
  });
  expect(breaches).toEqual([]);
  expect(history.filter(({ told }) => told === 'acknowledged').length).toBeGreaterThan(50);
  const confirmed = history.filter(({ kind, told }) => kind === 'confirm' && told === 'acknowledged');
  expect(confirmed.length).toBeGreaterThan(3);
  expect(parts.filter(({ state }) => state === 'ACCEPTED').length).toBeGreaterThan(10);
}, 400_000);
