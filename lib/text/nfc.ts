const tooManyMarks = /(?<!\p{M})\p{M}{31}/u;

/** Whether a text has at most 30 combining marks in a row (UAX #15, "Stream-Safe Text Format"): no language needs more. */
export function isStreamSafe(text: string): boolean {
  return !tooManyMarks.test(text);
}

/**
 * Unicode normalisation form C. Sorting a run of combining marks takes quadratic time (120 s for 1 MiB), so text that is
 * not stream-safe is returned as it is; `checkText` refuses it wherever text comes in.
 */
export function toNfc(text: string): string {
  return isStreamSafe(text) ? text.normalize('NFC') : text;
}

/** UTF-16 code units that one code point of NFC can come from, at most: U+1F82 is a letter and three marks. */
const maxExpansion = 4;

/**
 * Normalises a text of bounded length. The length is checked first, in code units, so that the cost is bounded.
 * @param most longest text allowed, in code points of NFC. @returns undefined for a text that is longer or not stream-safe.
 */
export function boundedNfc(text: string, most: number): string | undefined {
  if (text.length > most * maxExpansion || !isStreamSafe(text)) return undefined;
  const normalised = text.normalize('NFC');
  return [...normalised].length > most ? undefined : normalised;
}

/** {@link boundedNfc} of a text without the white space around it. */
export function readBoundedText(text: string, most: number): string | undefined {
  return boundedNfc(text.trim(), most)?.trim();
}
