import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundedPointer, escapePointer, pointerInto } from '#lib/json/pointer.ts';

/** What a pointer leads to by RFC 6901 §4; undefined for nothing. */
function follow(value: unknown, pointer: string): { value: unknown } | undefined {
  let found = value;
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return { value: found };
}

const names = fc.oneof(fc.constantFrom('a', 'b', '0', '1', '', 'a/b', '~1'), fc.string({ unit: 'binary' }));
const pointers = fc
  .array(names, { maxLength: 5 })
  .map((path) => path.map((name) => `/${escapePointer(name)}`).join(''));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 1, 'text'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(names, tie('json'), { maxKeys: 4 }),
  ),
}));

/** Every pointer into a value. */
function allPointers(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [''];
  return [
    '',
    ...Object.entries(value).flatMap(([name, each]) =>
      allPointers(each).map((rest) => `/${escapePointer(name)}${rest}`),
    ),
  ];
}

describe('a pointer into what was sent', () => {
  it('leads to a value, or to a member that is missing in an object', () => {
    fc.assert(
      fc.property(json, pointers, (sent, pointer) => {
        const into = pointerInto(sent, pointer);
        expect(pointer.startsWith(into)).toBe(true);
        if (follow(sent, into) || !follow(sent, `/${pointer.split('/')[1]}`)) return;
        const parent = follow(sent, into.slice(0, into.lastIndexOf('/')))?.value;
        expect(typeof parent === 'object' && parent !== null && !Array.isArray(parent)).toBe(true);
      }),
    );
  });

  it('is the given one if that leads to a value', () => {
    fc.assert(
      fc.property(json, (sent) => {
        for (const pointer of allPointers(sent))
          expect(pointerInto(sent, pointer)).toBe(boundedPointer(pointer));
      }),
    );
  });

  it.each([
    ['a member of what was not sent at all', { a: 1 }, '/b/c', '/b/c'],
    ['an item of a list that was sent as a text', { a: 'x' }, '/a/0', '/a'],
    ['an item that a list does not have', { a: ['x'] }, '/a/1', '/a'],
    ['a missing member', { a: {} }, '/a/b', '/a/b'],
    ['a parameter of a request without a body', undefined, '/a', '/a'],
    ['a name of 600 letters', { a: { ['n'.repeat(600)]: 1 } }, `/a/${'n'.repeat(600)}/b`, '/a'],
    ['a name with a lone surrogate', { a: { '\ud800': 1 } }, '/a/\ud800', '/a'],
  ])('for %s is the nearest place', (_, sent, pointer, expected) => {
    expect(pointerInto(sent, pointer)).toBe(expected);
  });
});
