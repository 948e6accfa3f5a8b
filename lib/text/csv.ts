/** A value of a table; undefined is an empty cell. */
export type Cell = string | number | undefined;

/**
 * One line of a table as CSV (RFC 4180). No text in it is a formula, whatever character divides the cells.
 */
export function csvLine(row: readonly Cell[]): string {
  return `${row.map(writeCell).join(',')}\r\n`;
}

/**
 * Chosen options as the text of one cell: divided by commas or, where an option of the question has a comma
 * itself, by line breaks, which options cannot have.
 * @param withCommas whether any option of the question has a comma, also one that is not chosen: otherwise
 * the options `a` and `b` would be written as the option `a,b`.
 */
export function joinOptions(options: readonly string[], withCommas: boolean): string {
  return options.join(withCommas ? '\n' : ',');
}

/** How a formula begins, also in full-width and small forms. */
const formulaSign = /[=+\-@＝＋－＠﹦﹢﹣﹫]/u;
/**
 * What spreadsheets divide lines by, and the quote: where the file is not divided by `,`, quotes are text.
 */
const divider = /[,;|:"\t\r\n\v\f\u0085\u2028\u2029]/;
/** What may stand between the beginning of a cell and its formula. */
const blank = /[\s\p{C}]/u;

function writeCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = withoutFormulas(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Writes `'` before each sign with which a spreadsheet could begin a formula (OWASP, "CSV Injection"): at the
 * beginning of the text and wherever another divider than the comma would begin a cell. A sign between blanks
 * is left: alone in a cell it is text.
 */
function withoutFormulas(cell: string): string {
  if (!formulaSign.test(cell)) return cell;
  const characters = [...cell];
  let begins = true;
  let safe = '';
  characters.forEach((character, index) => {
    const previous = characters[index - 1];
    const followsBlank = previous !== undefined && blank.test(previous);
    const isAlone = characters[index + 1] === ' ';
    if (formulaSign.test(character) && (begins || (followsBlank && !isAlone))) safe += "'";
    safe += character;
    begins = divider.test(character) || (begins && blank.test(character));
  });
  // A text that begins with a tab or line break was always marked as a whole.
  return /^[\t\r\n]/.test(cell) ? `'${safe}` : safe;
}
