/** What becomes of a text that is to be printed. */
export interface PrintableText {
  convert(text: string, isCode: boolean): string;
  /** Whether a character was replaced since the last call. */
  takeReplaced(): boolean;
}

const replacement = '\ufffd';
const controls = /\p{Cc}|\ufeff/gu;
/** Characters that steer the layout and need no glyph (UAX 44, Default_Ignorable_Code_Point). */
const ignorable = /^\p{Default_Ignorable_Code_Point}$/u;
const space = '\u200b';
const longWord = { text: /[^\s\u200b]{37,}/gu, code: /[^\s\u200b]{69,}/gu };

/**
 * Prepares texts for the typesetter: removes control characters, replaces characters for which no font has a
 * glyph (PDF/UA-1 forbids these, ISO 14289-1, 7.21.8), and lets long words break, which would else leave
 * the page.
 */
export function createPrintableText(hasGlyph: (codePoint: number) => boolean): PrintableText {
  let replaced = false;

  function printable(character: string): string {
    if (hasGlyph(character.codePointAt(0) as number) || ignorable.test(character)) return character;
    replaced = true;
    return replacement;
  }

  return {
    convert(text, isCode) {
      const clean = text.toWellFormed().replaceAll(controls, '');
      const known = clean.replaceAll(/[^\x20-\x7e]/gu, printable);
      return known.replaceAll(longWord[isCode ? 'code' : 'text'], breakable);
    },
    takeReplaced() {
      const result = replaced;
      replaced = false;
      return result;
    },
  };
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function breakable(word: string): string {
  const parts = [...graphemes.segment(word)].map(({ segment }) => segment);
  return parts.map((part, index) => (index > 0 && index % 8 === 0 ? `${space}${part}` : part)).join('');
}
