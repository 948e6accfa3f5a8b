type Cell = string | number | undefined;

/**
 * Writes RFC 4180 CSV. A text that a spreadsheet would take for a formula, by a full-width sign too, gets a quote in front,
 * because subjects' texts stand in it (OWASP, "CSV injection").
 */
export function writeCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@＝＋－＠\t\r\n]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
