/**
 * Characters that show nothing: ignorable ones such as U+200B, U+00AD and U+3164 (UAX #44,
 * Default_Ignorable_Code_Point), format and control characters, and the empty Braille pattern.
 */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]/gu;
/** Neither white space nor a combining mark, which shows something only on another character. */
const visible = /[^\p{White_Space}\p{M}]/u;

/** Whether a text shows nothing to its readers. */
export function isBlank(text: string): boolean {
  return !visible.test(text.replaceAll(invisible, ''));
}

/** What readers can tell apart: equal for texts that differ only in invisible characters or in spaces. */
export function visibleText(text: string): string {
  return text
    .replaceAll(/\p{White_Space}/gu, ' ')
    .replaceAll(invisible, '')
    .replaceAll(/ +/g, ' ')
    .normalize('NFC')
    .trim();
}

/** What breaks a line or changes the direction of the text around it (Unicode UAX 9). */
const unruly = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Whether a text can name a person, a key or an organisation wherever names are listed. */
export function isName(text: string): boolean {
  return text.isWellFormed() && !isBlank(text) && !unruly.test(text);
}

/** The rule of {@link isName}, for faults. */
export const nameRule =
  'something to see, no line breaks or other control characters, also none of direction';
