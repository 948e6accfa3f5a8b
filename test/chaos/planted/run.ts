import { parseArgs } from 'node:util';
import { breachesOf } from './breaches-of.ts';
import { breachesOfPeers } from './peers/breaches-of.ts';
import { peerPlants } from './peers/plants.ts';
import { plants } from './plants.ts';

// `npm run chaos:planted`: every planted bug must be caught, by what it breaks. Exit 1 if one is not.

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const missed: string[] = [];
const all = [
  ...plants.map((plant) => ({ plant, run: breachesOf })),
  ...peerPlants.map((plant) => ({ plant, run: breachesOfPeers })),
];
for (const { plant, run } of all.filter(({ plant }) => new RegExp(values.only).test(plant.patch))) {
  const from = Date.now();
  const breaches = await run(plant).catch((error: Error) => [`it could not be tried: ${error.message}`]);
  const found = breaches.find((breach) => plant.caught.test(breach));
  if (!found) missed.push(plant.patch);
  const seconds = ((Date.now() - from) / 1000).toFixed(1);
  const said = found ?? `NOT CAUGHT; said instead: ${breaches.slice(0, 3).join(' / ') || 'nothing'}`;
  process.stdout.write(`${plant.patch}, ${seconds} s: ${said}\n`);
}
process.stdout.write(`${missed.length === 0 ? 'All were caught.' : `Not caught: ${missed.join(', ')}`}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
