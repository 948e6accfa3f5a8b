import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLine } from '#lib/text/csv.ts';

const dividers = [',', ';', '\t', '|', ':', ' '];
const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫'];

/** The cells of a line for a program that divides by the character, and takes quotes as part of the text. */
const withoutQuotes = (text: string, divider: string) =>
  text.split(/\r\n|\r|\n/).flatMap((line) => line.split(divider));

/** The cells for a program that honours quotes at the beginning of a cell (RFC 4180). */
function withQuotes(text: string, divider: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (isQuoted && character === '"' && text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (isQuoted && character === '"') isQuoted = false;
    else if (isQuoted) cell += character;
    else if (character === '"' && cell === '') isQuoted = true;
    else if (character === divider || character === '\r' || character === '\n') {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  return [...cells, cell];
}

/** Spreadsheets skip blanks and stray quotes before a formula. A sign alone is text. */
const isFormula = (cell: string) => {
  const [sign, ...rest] = cell.replace(/^["\s\p{C}]+/u, '').replace(/["\s\p{C}]+$/u, '');
  return sign !== undefined && signs.includes(sign) && rest.length > 0;
};

const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...dividers, ...signs, '"', "'", '\n', '\r', '\r\n', '\u200b', '\u00a0', '\ufeff'),
      fc.constantFrom('1+1', 'SUM(A1)', "cmd|'/C calc'!A0", 'letters', '33'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe('a line of CSV', () => {
  it('has no formula, by whatever character a spreadsheet divides it, with and without quotes', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 4 }), (row) => {
        const line = csvLine(row);
        for (const divider of dividers)
          for (const cells of [withoutQuotes(line, divider), withQuotes(line, divider)])
            expect(cells.filter(isFormula), divider).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same as before for names, addresses, numbers, times and options', () => {
    const ordinary = ['Once a month', 'anna-maria@example.org', 'Letters - weekly', 'C++', 'a=b', 'Row 7'];
    expect(csvLine(ordinary)).toBe(`${ordinary.join(',')}\r\n`);
    expect(csvLine(['2026-05-03T10:00:00Z', 'https://a.example/?b=c', -5, undefined, 1.5])).toBe(
      '2026-05-03T10:00:00Z,https://a.example/?b=c,-5,,1.5\r\n',
    );
  });

  it('keeps every text, apart from the quote before signs', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 4 }), (row) => {
        const plain = (text: string) => text.replaceAll("'", '');
        const cells = withQuotes(csvLine(row).slice(0, -2), ',');
        expect(cells.map(plain)).toEqual(row.map(plain));
      }),
    );
  });
});
