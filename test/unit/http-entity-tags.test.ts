import { expect, it } from 'vitest';
import { matchesWeakly } from '#lib/http/entity-tags.ts';

it.each([
  ['"a"', '"a"', true],
  ['W/"a"', '"a"', true],
  ['"a"', 'W/"a"', true],
  ['"x", W/"a"', '"a"', true],
  ['"x,y",W/"a-br" ', '"a-br"', true],
  ['"a,b"', '"a,b"', true],
  ['*', '"a"', true],
  [' * ', '"a"', true],
  ['"A"', '"a"', false],
  ['a', '"a"', false],
  ['"x, "', '"a"', false],
  ['', '"a"', false],
  ['*', '', false],
])('If-None-Match: %s and the tag %s', (list, tag, isMatch) => {
  expect(matchesWeakly(list, tag)).toBe(isMatch);
});
