import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { createRandom } from './random.ts';
import { type Blow, startUnderLoad } from './under-load.ts';

/** CHAOS_SEED=… draws the same numbers again. */
const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31));
console.log(`CHAOS_SEED=${seed}`);

it('what was acknowledged is there once, whatever was killed at whatever moment', async () => {
  const random = createRandom(seed);
  const { client, strike, breaches } = await startUnderLoad(random);
  const blows: Blow[] = [
    'kill -9 of Accord',
    'kill -9 of PostgreSQL',
    'kill -9 of both',
    'kill -9 of Accord',
    'kill -9 of Accord',
  ];
  for (const blow of blows) await strike(blow, random.between(20, 200));
  expect(await breaches()).toEqual([]);
  const told = client.history.map((line) => line.told);
  expect(told.filter((each) => each === 'acknowledged').length).toBeGreaterThan(100);
  expect(told).toContain('unknown');
});

it('a SIGTERM under load ends Accord with exit 0 and loses nothing', async () => {
  const random = createRandom(seed);
  const { strike, breaches } = await startUnderLoad(random);
  expect(await strike('SIGTERM', random.between(50, 150))).toBe(0);
  expect(await breaches()).toEqual([]);
});
