import { parseArgs } from 'node:util';
import { breachesOf } from './breaches-of.ts';
import { bugs } from './bugs.ts';

// `npm run chaos:planted`: every planted bug must be caught, by what it breaks. Exit 1 if one is not.

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const missed: string[] = [];
for (const [name, { caught }] of Object.entries(bugs)) {
  if (!caught || !new RegExp(values.only).test(name)) continue;
  const from = Date.now();
  const breaches = await breachesOf(name).catch((error: Error) => [`the run failed: ${error.message}`]);
  const found = breaches.find((breach) => caught.test(breach));
  if (!found) missed.push(name);
  const seconds = ((Date.now() - from) / 1000).toFixed(1);
  const result = found ?? `NOT CAUGHT; found instead: ${breaches.slice(0, 3).join(' / ') || 'nothing'}`;
  process.stdout.write(`${name}, ${seconds} s: ${result}\n`);
}
process.stdout.write(`${missed.length === 0 ? 'All were caught.' : `Not caught: ${missed.join(', ')}`}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
