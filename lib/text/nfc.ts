import { isBlank } from '#lib/text/visible-text.ts';

const maxMarks = 30;

/** Whether a text has at most 30 combining marks in a row (UAX #15, "Stream-Safe Text Format"). */
export function isStreamSafe(text: string): boolean {
  // The first mark is U+0300.
  if (!/[\u0300-\uFFFF]/.test(text)) return true;
  for (const [marks] of text.matchAll(/\p{M}+/gu)) {
    // A mark has one or two code units.
    if (marks.length > 2 * maxMarks) return false;
    if (marks.length > maxMarks && [...marks].length > maxMarks) return false;
  }
  return true;
}

/**
 * Normalises a text to NFC. Returns a text that is not stream-safe unchanged, because sorting combining marks
 * takes quadratic time (120 s for 1 MiB); `checkText` rejects such texts in requests.
 */
export function toNfc(text: string): string {
  return isStreamSafe(text) ? text.normalize('NFC') : text;
}

/**
 * Maximum number of UTF-16 code units that become one code point of NFC: U+1F82 is a letter and three marks.
 */
const maxExpansion = 4;

/**
 * Normalises a text of bounded length. Checks the length in code units first, to bound the cost.
 * @param maxLength in code points of NFC. @returns undefined for a text that is longer or not stream-safe.
 */
export function boundedNfc(text: string, maxLength: number): string | undefined {
  if (text.length > maxLength * maxExpansion || !isStreamSafe(text)) return undefined;
  const normalised = text.normalize('NFC');
  return [...normalised].length > maxLength ? undefined : normalised;
}

/** {@link boundedNfc} of a trimmed text; '' for a text that shows nothing. */
export function readBoundedText(text: string, maxLength: number): string | undefined {
  const read = boundedNfc(text.trim(), maxLength)?.trim();
  return read && isBlank(read) ? '' : read;
}
