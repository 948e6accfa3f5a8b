import { diffLines, diffWordsWithSpace } from 'diff';

/** A piece of two texts that are compared. */
export interface TextPart {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Longest time for comparing two texts word by word. */
const timeoutMs = 200;

/** Compares two texts by words; long texts that differ much by lines. An empty text has no part. */
export function compareTexts(before: string, after: string): TextPart[] {
  const changes = diffWordsWithSpace(before, after, { timeout: timeoutMs }) ?? diffLines(before, after);
  return changes.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}

/** A member of a model that has two values. */
export interface Difference {
  label: string;
  before: string;
  after: string;
  parts: TextPart[];
}

/** @returns undefined if both are the same; else their pieces in order. An empty text stands for no value. */
export function differenceOf(label: string, before: string, after: string): Difference | undefined {
  return before === after ? undefined : { label, before, after, parts: compareTexts(before, after) };
}
