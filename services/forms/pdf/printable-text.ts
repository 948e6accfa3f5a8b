import { removeOverrides } from '#lib/text/direction-controls.ts';

/** Prepares the texts of a document for the typesetter. */
export interface PrintableText {
  /** Removes characters that are not printed, and replaces those that no font has. */
  convert(text: string): string;
  /** The characters that were replaced. */
  replaced: ReadonlySet<string>;
}

const replacement = '\ufffd';
/**
 * Control characters, and selectors of Mongolian letters, which no font here has: after an emoji one would
 * become an empty glyph.
 */
const removed = /\p{Cc}|\u180b|\u180c|\u180d|\u180f|\ufeff/gu;
/**
 * Format characters after a letter on which they have no effect. PDF viewers would take the pair for one
 * character, and would copy the pair wherever the letter occurs.
 */
const ineffective =
  /(?<=^|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}\p{P}\p{Z}\p{Sm}\p{Sc}])[\p{Cf}--[\u2066-\u2069]]+/gv;
/** Characters that need no glyph (Unicode UAX 44, Default_Ignorable_Code_Point). */
const ignorable = /^\p{Default_Ignorable_Code_Point}$/u;

/** @param hasGlyph PDF/UA-1 forbids characters without a glyph (ISO 14289-1, 7.21.8). */
export function createPrintableText(hasGlyph: (character: string) => boolean): PrintableText {
  const replaced = new Set<string>();

  function printable(character: string): string {
    if (hasGlyph(character) || ignorable.test(character)) return character;
    replaced.add(character);
    return replacement;
  }

  return {
    replaced,
    convert(text) {
      const clean = removeOverrides(text.toWellFormed()).replaceAll(removed, '').replaceAll(ineffective, '');
      return clean.replaceAll(/[^\x20-\x7e]/gu, printable);
    },
  };
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const pieceLength = 8;

/**
 * Splits a text into parts, and each word that is too long for a line into pieces between which a line may
 * end. Scripts without spaces have no long words: the typesetter knows where their lines may end.
 * @param longest the letters of the longest word that stays whole.
 */
export function breakLongWords(text: string, longest: number): (string | string[])[] {
  const parts = text.split(new RegExp(`([^\\s${unspaced}]{${longest + 1},})`, 'u'));
  // The odd members are the captured long words.
  return parts.map((part, index) => (index % 2 === 0 ? part : piecesOf(part))).filter((part) => part !== '');
}

const unspaced = ['Han', 'Hira', 'Kana', 'Hang', 'Bopo', 'Thai', 'Lao', 'Khmr', 'Mymr']
  .map((script) => `\\p{scx=${script}}`)
  .join('');

function piecesOf(word: string): string[] {
  const letters = Array.from(graphemes.segment(word), ({ segment }) => segment);
  return Array.from({ length: Math.ceil(letters.length / pieceLength) }, (_, piece) =>
    letters.slice(piece * pieceLength, (piece + 1) * pieceLength).join(''),
  );
}
