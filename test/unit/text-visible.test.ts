import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBoundedText } from '#lib/text/nfc.ts';
import { isBlank, visibleText } from '#lib/text/visible-text.ts';

const invisible = [
  '\u200b',
  '\u200c',
  '\u200d',
  '\u00ad',
  '\u2060',
  '\ufeff',
  '\u202e',
  '\u2066',
  '\u200f',
  '\u3164',
  '\uffa0',
  '\u115f',
  '\u180e',
  '\u2800',
  '\ufe0f',
  '\u{e0101}',
  '\u{e0041}',
  '\u034f',
  '\u0007',
  '\u{1d173}',
];
const blank = [...invisible, ' ', '\u00a0', '\u3000', '\n', '\u0301'];
const code = (text: string) => `U+${text.codePointAt(0)?.toString(16)}`;

describe('a text', () => {
  it.each(blank.map((text) => [code(text), text]))('of %s alone is blank', (_code, text) => {
    expect(isBlank(text)).toBe(true);
    expect(readBoundedText(`${text}${text} ${text}`, 100)).toBe('');
  });

  it.each(['a', '-', '0', 'é', 'e\u0301', '👨‍👩‍👧', '✔️', 'خانه‌ها', '\ue000', '。'])(
    '%s is not blank',
    (text) => {
      expect(isBlank(text)).toBe(false);
      expect(readBoundedText(text, 100)).toBe(text.normalize('NFC'));
    },
  );

  it('is blank exactly if nothing of it is visible', () => {
    assert(
      property(array(constantFrom(...blank)), string({ unit: 'grapheme' }), (nothing, text) => {
        expect(isBlank(nothing.join(''))).toBe(true);
        expect(isBlank(nothing.join('') + text)).toBe(isBlank(text));
      }),
    );
  });

  it('looks the same with invisible characters anywhere', () => {
    assert(
      property(array(constantFrom('a', 'b', ' ')), constantFrom(...invisible), (letters, nothing) => {
        expect(visibleText(letters.join(nothing))).toBe(visibleText(letters.join('')));
      }),
    );
  });
});
