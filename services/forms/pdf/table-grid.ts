/** A cell as HTML has it. */
interface GivenCell {
  attribs?: Record<string, string>;
}

/** A cell with its place in the grid, counted from 0. */
export interface PlacedCell<Cell> {
  cell: Cell;
  x: number;
  y: number;
  colspan: number;
  rowspan: number;
}

export interface Grid<Cell> {
  columns: number;
  cells: PlacedCell<Cell>[];
}

/**
 * Places the cells of a table in a grid (HTML Standard, "forming a table"). A cell ends before a place that
 * another one has, and with the last row.
 */
export function placeCells<Cell extends GivenCell>(rows: readonly (readonly Cell[])[]): Grid<Cell> {
  const cells: PlacedCell<Cell>[] = [];
  /** By column, the first row that is free. */
  const freeFrom: number[] = [];
  for (const [y, row] of rows.entries()) {
    let x = 0;
    for (const cell of row) {
      while ((freeFrom[x] ?? 0) > y) x += 1;
      const rowspan = Math.min(spanOf(cell.attribs?.rowspan), rows.length - y);
      const wanted = spanOf(cell.attribs?.colspan);
      let colspan = 0;
      while (colspan < wanted && (freeFrom[x + colspan] ?? 0) <= y) {
        freeFrom[x + colspan] = y + rowspan;
        colspan += 1;
      }
      cells.push({ cell, x, y, colspan, rowspan });
      x += colspan;
    }
  }
  return { columns: Math.max(1, freeFrom.length), cells };
}

function spanOf(text: string | undefined): number {
  return Math.max(1, Number.parseInt(text ?? '', 10) || 1);
}
