import { sha256Canonical } from './context-digest.ts';
import { normaliseText } from './parse-values.ts';

/**
 * Tells whether two submissions are the same (decisions.md §4): the answers map without `info`, without empty answers,
 * prefixes of later clients cut, texts normalised and values in any order.
 */
export function answersDigest(answers: Record<string, readonly string[]>): Buffer {
  const said = Object.entries(answers)
    .filter(([name]) => name !== 'info')
    .map(
      ([name, values]) =>
        [
          name.replace(/^bloc\/[^/]+\//, ''),
          values
            .map(normaliseLines)
            .filter((value) => value !== '')
            .sort(),
        ] as const,
    )
    .filter(([, values]) => values.length > 0);
  return sha256Canonical(Object.fromEntries(said));
}

function normaliseLines(text: string): string {
  return normaliseText(text.replaceAll('\r\n', '\n'));
}
