import { describe, expect, it } from 'vitest';
import { compareLists, compareWords, createBudget } from '#lib/text/compare-words.ts';

const compared = () => ({ language: 'en', budget: createBudget() });

/** 20,000 characters in words that another text has in another order, which takes longest. */
const longText = (letter: string) =>
  Array.from({ length: 4_000 }, (_, index) => letter + ((index * 7919) % 1_000)).join(' ');

describe('a comparison of two texts', () => {
  it('marks words', async () => {
    expect(
      await compareWords('We keep it for a year.', 'We keep it for two years.', compared()),
    ).toContainEqual({
      op: 'added',
      text: 'two',
    });
  });

  it('has no result once the budget of the page is used up', async () => {
    const budget = { left: 0 };
    expect(await compareWords('a', 'b', { language: 'en', budget })).toBeUndefined();
    expect(compareLists(['post'], ['mail'], budget)).toBeUndefined();
  });

  it('gives up on long texts that have nothing in common, and takes from the budget of the page', async () => {
    const budget = createBudget();
    const before = budget.left;
    expect(await compareWords(longText('a'), longText('b'), { language: 'en', budget })).toBeUndefined();
    expect(budget.left).toBeLessThan(before);
  });

  it('lets others have their turn between texts', async () => {
    const budget = createBudget();
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    for (let text = 0; text < 100; text += 1)
      await compareWords(longText(`a${text}`), longText(`b${text}`), { language: 'en', budget });
    clearInterval(timer);
    expect(budget.left).toBeLessThanOrEqual(0);
    expect(turns).toBeGreaterThan(4);
  });
});
