import { expect, it } from 'vitest';
import { createRests } from '#lib/events/kafka/rests.ts';

it('A topic rests after each failure for twice as long, for 5 s at most, and not at all once it has worked', () => {
  let now = 0;
  const rests = createRests(() => now);
  const restOf = () => {
    const began = now;
    rests.failed('accord.models');
    while (rests.now().includes('accord.models')) now += 10;
    return now - began;
  };
  expect(Array.from({ length: 8 }, restOf)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  expect(rests.now()).toEqual([]);
  rests.worked('accord.models');
  expect(restOf()).toBe(100);
});

it('Topics rest on their own', () => {
  const rests = createRests(() => 0);
  rests.failed('accord.models');
  expect(rests.now()).toEqual(['accord.models']);
  rests.failed('accord.keys');
  rests.worked('accord.models');
  expect(rests.now()).toEqual(['accord.keys']);
});
