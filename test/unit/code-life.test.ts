import { expect, it } from 'vitest';
import { wholeMinutes } from '../../services/transactions/commands/compose-message.ts';

it.each([
  [1, 1],
  [20, 1],
  [90, 1],
  [119, 1],
  [120, 2],
  [600, 10],
])('a code that is valid for %i s is said to be valid for %i minutes', (seconds, minutes) => {
  expect(wholeMinutes(seconds)).toBe(minutes);
});
