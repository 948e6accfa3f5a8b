import { expect, it } from 'vitest';
import { breachesOf } from './breaches-of.ts';
import { checkPatch } from './copy-with-patch.ts';
import { peerPlants } from './peers/plants.ts';
import { plants } from './plants.ts';

/** One for each invariant, and none that only shows by chance; `npm run chaos:planted` runs them all. */
const quick = new Set([
  'records-outside-transaction',
  'claim-missing',
  'commit-without-condition',
  'event-outside-transaction',
]);

it.each([...plants, ...peerPlants])('the code can still be broken so: $what', ({ patch }) =>
  checkPatch(patch),
);

it.each(plants.filter(({ patch }) => quick.has(patch)))('it is noticed when $what', async (plant) => {
  expect((await breachesOf(plant)).join('\n')).toMatch(plant.caught);
});
