import { readBoundedText } from '#lib/text/nfc.ts';

/** Longest free text, in code points (docs/interface.md). */
const maxAnswerLength = 4_000;

/** A text as answers are compared and stored: NFC, CRLF as LF, trimmed; undefined if it is too long. */
export function readAnswerText(text: string): string | undefined {
  return readBoundedText(text.replaceAll('\r\n', '\n'), maxAnswerLength);
}
