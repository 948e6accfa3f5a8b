import { expect, it } from 'vitest';
import { wholeMinutes } from '../../services/transactions/delivery/compose-message.ts';

it.each([
  [1, 1],
  [20, 1],
  [90, 1],
  [109, 1],
  [119.5, 2],
  [120, 2],
  [599.9, 10],
])('a code that is valid for %i s is said to be valid for %i minutes', (seconds, minutes) => {
  expect(wholeMinutes(seconds)).toBe(minutes);
});
