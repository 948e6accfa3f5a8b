import { expect, it } from 'vitest';
import { pageText } from '../../services/forms/pages/page-text.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Korean, Chinese and Japanese letters, and emoji: two columns of a terminal (Unicode UAX 11). */
const wide = /[\uac00-\ud7a3\u3040-\u30ff\u4e00-\u9fff]|\p{Emoji_Presentation}|\ufe0f/u;

function columnsOf(line: string): number {
  let columns = 0;
  for (const { segment } of graphemes.segment(line)) columns += wide.test(segment) ? 2 : 1;
  return columns;
}

it.each([
  ['Arabic', 'نوافق على معالجة البيانات الشخصية '],
  ['vocalised Arabic', 'نُوَافِقُ عَلَى مُعَالَجَةِ البَيَانَاتِ '],
  ['emoji', '😀 ab ✅ 👩‍💻 ❤️ cd ⌚ '],
  ['Korean', '개인 정보 처리에 동의합니다 '],
  ['Chinese and Japanese', '同意 個人 データ ひらがな '],
])('a text of %s has lines of at most 72 columns, and all its words', async (_, text) => {
  const words = text.repeat(20).trim();
  const plain = await pageText(
    `<main><h1>${words}</h1><dl><dt>A</dt><dd>${words}</dd></dl><p>${words}</p></main>`,
  );
  for (const line of plain.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(72);
  expect(plain.replaceAll(/\s+/g, ' ').split(words)).toHaveLength(4);
});
