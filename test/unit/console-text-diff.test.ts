import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBudget } from '#lib/text/compare-words.ts';
import { compareChanges, compareTexts, differenceOf } from '../../services/console/pages/text-diff.ts';
import { cpuOf } from '../support/run/cpu-growth.ts';

const textOf = (parts: Awaited<ReturnType<typeof compareTexts>>, without: 'added' | 'removed') =>
  parts
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('');

const compare = (before: string, after: string) =>
  compareTexts(before, after, { language: 'en', budget: createBudget() });

describe('the difference of two texts', () => {
  it('contains both texts whole, whatever they are', async () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 30 }));
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        const parts = await compare(before, after);
        expect([textOf(parts, 'added'), textOf(parts, 'removed')]).toEqual([before, after]);
      }),
    );
  });

  it('marks words', async () => {
    expect(await compare('We keep it for a year.', 'We keep it for two years.')).toEqual([
      { kind: 'same', text: 'We keep it for ' },
      { kind: 'removed', text: 'a' },
      { kind: 'added', text: 'two' },
      { kind: 'same', text: ' ' },
      { kind: 'removed', text: 'year' },
      { kind: 'added', text: 'years' },
      { kind: 'same', text: '.' },
    ]);
  });

  it('is whole and quick for long texts that have nothing in common', async () => {
    const [before, after] = ['a', 'b'].map((letter) =>
      Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`).join(' '),
    ) as [string, string];
    const parts = await compare(before, after);
    expect([textOf(parts, 'added'), textOf(parts, 'removed')]).toEqual([before, after]);
  });

  it('is none of equal texts', () => {
    expect(differenceOf('Title', 'same', 'same')).toBeUndefined();
  });

  it('of 400 texts of 20,000 characters is found within one budget, and no turn takes long', async () => {
    const textOf = (letter: string) =>
      Array.from({ length: 3_000 }, (_, index) => letter + ((index * 7919) % 1_000)).join(' ');
    const [before, after] = [textOf('a'), textOf('b')];
    const changes = Array.from({ length: 400 }, () => ({ label: 'Text', before, after }));
    const turn = await cpuOf(() => compare(before, after));
    const whole = await cpuOf(() => compareChanges(changes, 'en'));
    // Without a budget it is 400 times as much.
    expect(whole / Math.max(5, turn)).toBeLessThan(100);
  });
});
