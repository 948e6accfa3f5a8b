import { type ComparisonBudget, compareWords, createBudget } from '#lib/text/compare-words.ts';

/** A piece of two texts that are compared. */
export interface TextPart {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** A member of a model that has two values. */
export interface Change {
  label: string;
  before: string;
  after: string;
}

export interface Difference extends Change {
  parts: TextPart[];
}

/** @returns undefined if both are the same. An empty text stands for no value. */
export function differenceOf(label: string, before: string, after: string): Change | undefined {
  return before === after ? undefined : { label, before, after };
}

/**
 * Compares the texts of a page by words, within one budget; texts that differ too much are shown in full.
 * @param language of the words, BCP 47.
 */
export async function compareChanges(changes: readonly Change[], language: string): Promise<Difference[]> {
  const budget = createBudget();
  const differences: Difference[] = [];
  for (const { label, before, after } of changes)
    differences.push({
      label,
      before,
      after,
      parts: await compareTexts(before, after, { language, budget }),
    });
  return differences;
}

/** Compares two texts. An empty text has no part. */
export async function compareTexts(
  before: string,
  after: string,
  compared: { language: string; budget: ComparisonBudget },
): Promise<TextPart[]> {
  const both = before !== '' && after !== '';
  const parts = both ? await compareWords(before, after, compared) : undefined;
  if (parts) return parts.map(({ op, text }) => ({ kind: op, text }));
  const whole: TextPart[] = [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
  return whole.filter(({ text }) => text !== '');
}
