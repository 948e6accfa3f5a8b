import { afterEach, describe, expect, it, vi } from 'vitest';
import { compareLists, compareWords } from '#lib/text/compare-words.ts';

afterEach(() => void vi.restoreAllMocks());

/** Lets a comparison take `ms` before it looks at the clock for the first time. */
function takes(ms: number) {
  vi.spyOn(Date, 'now')
    .mockReturnValueOnce(1_000)
    .mockReturnValue(1_000 + ms);
}

describe('a comparison of two texts', () => {
  it('ends without a result after 50 ms', () => {
    takes(50);
    expect(compareWords('We keep it for a year.', 'We keep it for two years.', 'en')).toContainEqual({
      op: 'added',
      text: 'two',
    });
    takes(51);
    expect(compareWords('We keep it for a year.', 'We keep it for two years.', 'en')).toBeUndefined();
    takes(51);
    expect(compareLists(['post'], ['mail'])).toBeUndefined();
  });

  it('gives up on long texts that have nothing in common', () => {
    const textOf = (letter: string) =>
      Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`).join(' ');
    expect(compareWords(textOf('a'), textOf('b'), 'en')).toBeUndefined();
  });
});
