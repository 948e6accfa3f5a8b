/** A value of a table; undefined is an empty cell. */
export type Cell = string | number | undefined;

/** One line of a table as CSV (RFC 4180). */
export function csvLine(row: readonly Cell[]): string {
  return `${row.map(writeCell).join(',')}\r\n`;
}

/** A text that a spreadsheet would read as a formula gets a leading quote (OWASP, "CSV Injection"). */
function writeCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@＝＋－＠\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
