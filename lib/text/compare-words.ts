import { setImmediate as nextTurn } from 'node:timers/promises';
import { diffArrays } from 'diff';

/** A piece of two texts that are compared. */
export interface ComparedPart {
  op: 'same' | 'removed' | 'added';
  text: string;
}

/**
 * The CPU time that comparing may take: the time grows with the product of length and differences. One budget
 * is for all comparisons of a page.
 */
export interface ComparisonBudget {
  /** Milliseconds that are left. */
  left: number;
}

/** Longest time for the comparisons of one page, in milliseconds. */
const pageMs = 400;
/** Longest time for one comparison, after which other requests have their turn. */
const turnMs = 30;
/** Longer texts are not cut into words, which alone would take a turn. */
const maxLength = 30_000;

export function createBudget(): ComparisonBudget {
  return { left: pageMs };
}

/**
 * Compares two texts word by word. Words are those of the language (UAX #29), so that languages without
 * spaces and Arabic are cut where readers expect it. Other requests have a turn before and after it.
 * @param language BCP 47.
 * @returns undefined if the texts differ too much, or the budget is used up.
 */
export async function compareWords(
  before: string,
  after: string,
  { language, budget }: { language: string; budget: ComparisonBudget },
): Promise<ComparedPart[] | undefined> {
  if (before.length + after.length > maxLength * 2 || budget.left <= 0) return undefined;
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  const wordsOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);
  const words: string[][] = [];
  for (const text of [before, after]) {
    await nextTurn();
    words.push(spend(budget, () => wordsOf(text)));
  }
  await nextTurn();
  const [old = [], now = []] = words;
  return compareItems(old, now, budget)?.map(({ op, items }) => ({ op, text: items.join('') }));
}

/** Compares two lists item by item. @returns undefined if the budget is used up. */
export function compareLists(
  before: readonly string[],
  after: readonly string[],
  budget: ComparisonBudget,
): ComparedPart[] | undefined {
  return compareItems(before, after, budget)?.flatMap(({ op, items }) => items.map((text) => ({ op, text })));
}

function compareItems(before: readonly string[], after: readonly string[], budget: ComparisonBudget) {
  if (budget.left <= 0) return undefined;
  const timeout = Math.min(turnMs, budget.left);
  const changes = spend(budget, () => diffArrays([...before], [...after], { timeout }));
  return changes?.map(({ value, added, removed }) => ({
    op: added ? ('added' as const) : removed ? ('removed' as const) : ('same' as const),
    items: value,
  }));
}

function spend<T>(budget: ComparisonBudget, work: () => T): T {
  const start = performance.now();
  const result = work();
  budget.left -= performance.now() - start;
  return result;
}
