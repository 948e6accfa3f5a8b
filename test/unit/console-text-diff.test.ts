import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTexts, differenceOf } from '../../services/console/pages/text-diff.ts';

const textOf = (parts: ReturnType<typeof compareTexts>, without: 'added' | 'removed') =>
  parts
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('');

describe('the difference of two texts', () => {
  it('contains both texts whole, whatever they are', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 30 }));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = compareTexts(before, after);
        expect([textOf(parts, 'added'), textOf(parts, 'removed')]).toEqual([before, after]);
      }),
    );
  });

  it('marks words', () => {
    expect(compareTexts('We keep it for a year.', 'We keep it for two years.')).toEqual([
      { kind: 'same', text: 'We keep it for ' },
      { kind: 'removed', text: 'a' },
      { kind: 'added', text: 'two' },
      { kind: 'same', text: ' ' },
      { kind: 'removed', text: 'year' },
      { kind: 'added', text: 'years' },
      { kind: 'same', text: '.' },
    ]);
  });

  it('is whole and quick for long texts that have nothing in common', () => {
    const [before, after] = ['a', 'b'].map((letter) =>
      Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`).join(' '),
    ) as [string, string];
    const parts = compareTexts(before, after);
    expect([textOf(parts, 'added'), textOf(parts, 'removed')]).toEqual([before, after]);
  });

  it('is none of equal texts', () => {
    expect(differenceOf('Title', 'same', 'same')).toBeUndefined();
  });
});
