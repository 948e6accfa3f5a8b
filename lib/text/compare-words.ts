import { diffArrays } from 'diff';

/** A piece of two texts that are compared. */
export interface ComparedPart {
  op: 'same' | 'removed' | 'added';
  text: string;
}

/** Longest time for one comparison; the time grows with the product of length and differences. */
const timeoutMs = 50;

/**
 * Compares two texts word by word. Words are those of the language (UAX #29), so that languages without
 * spaces and Arabic are cut where readers expect it.
 * @param language BCP 47. @returns undefined if the texts differ too much to be compared in 50 ms.
 */
export function compareWords(before: string, after: string, language: string): ComparedPart[] | undefined {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  const wordsOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);
  return compareItems(wordsOf(before), wordsOf(after))?.map(({ op, items }) => ({
    op,
    text: items.join(''),
  }));
}

/** Compares two lists item by item. @returns undefined after 50 ms. */
export function compareLists(
  before: readonly string[],
  after: readonly string[],
): ComparedPart[] | undefined {
  return compareItems(before, after)?.flatMap(({ op, items }) => items.map((text) => ({ op, text })));
}

function compareItems(before: readonly string[], after: readonly string[]) {
  const changes = diffArrays([...before], [...after], { timeout: timeoutMs });
  return changes?.map(({ value, added, removed }) => ({
    op: added ? ('added' as const) : removed ? ('removed' as const) : ('same' as const),
    items: value,
  }));
}
