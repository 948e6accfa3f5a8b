/** Longest free text, in code points (decisions.md §4). */
const maxAnswerLength = 4_000;

/** A text as answers are compared and stored: NFC, CRLF as LF, trimmed. */
export function normaliseAnswer(text: string): string {
  return text.normalize('NFC').replaceAll('\r\n', '\n').trim();
}

/** Whether a normalised text has more code points than an answer may have. */
export function isTooLong(text: string): boolean {
  if (text.length <= maxAnswerLength) return false;
  return text.length > 2 * maxAnswerLength || [...text].length > maxAnswerLength;
}

/** Whether PostgreSQL can store the text: no lone surrogate, no NUL. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
