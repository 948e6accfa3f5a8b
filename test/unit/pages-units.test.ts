import { expect, it } from 'vitest';
import { quantity } from '#lib/pages/reader.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';

it.each([
  ['en', 3, 'year', '3 years'],
  ['pl', 5, 'month', '5 miesięcy'],
  ['mt', 1, 'year', '1 sena'],
  ['mt', 5, 'month', '5 xhur'],
  ['mt', 11, 'day', '11-il jum'],
  ['mt', 20, 'minute', '20 minuta'],
  ['ga', 3, 'year', '3 bliana'],
  ['ga', 7, 'year', '7 mbliana'],
  ['ga', 12, 'week', '12 seachtain'],
  ['ga', 2, 'second', '2 shoicind'],
])('in %s %i of the unit %s are “%s”, never an abbreviation', (language, value, unit, text) => {
  expect(plainSpaces(quantity(language, value, unit))).toBe(text);
});
