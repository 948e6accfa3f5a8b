import type { Cell as CsvCell } from '#lib/text/csv.ts';
import type { ConsoleReader, PrintedTime } from './console-reader.ts';
import { csvText } from './csv-export.ts';
import { type Filters, withQuery } from './filters.ts';
import type { StateMark } from './states.ts';

/** What a cell shows: one of these members. */
export interface CellView {
  text?: string;
  /** A link on the text. */
  href?: string;
  /** A key, URL or code, always written from left to right. */
  code?: string;
  time?: PrintedTime;
  state?: StateMark;
  number?: string;
  /** A share in per cent as a bar of two parts. */
  bar?: { share: number; text: string };
  /** A second, quieter text below. */
  note?: string;
  /** A code that few readers need: its word opens it. */
  details?: { word: string; code: string };
}

/** A column of a list of `Row`. */
export interface Column<Row> {
  label: string;
  cell: (row: Row) => CellView;
  /** The value in CSV; a column without it is not exported. */
  csv?: (row: Row) => CsvCell;
  isNumber?: boolean;
}

/** A cell as narrow pages show it. */
interface LabelledCell extends CellView {
  /** The name of its column, before it; not before an act of the same name. */
  label?: string;
  /** Whether it says nothing, and is left out there. */
  isEmpty: boolean;
}

/** A table as the mixin `+table` prints it. */
export interface TableView {
  caption: string;
  columns: { label: string; isNumber: boolean }[];
  rows: { cells: LabelledCell[] }[];
  /** URL of the next page; absent on the last. */
  nextUrl?: string;
  /** URL of the first page, on any other page. */
  firstUrl?: string;
  csvUrl?: string;
  /** Of a table that its page exports as a whole. */
  file?: { name: string; text(): string };
  /** Said when a filter has changed the list. */
  result: string;
  /** Nothing to show: either there is nothing at all, or nothing matches the filters. */
  empty: 'none' | 'no-match' | null;
  clearUrl: string;
}

/** The table of a page that the URL asks for as a file; also of a panel. */
export function requestedFile(
  { format, table }: Readonly<Record<string, unknown>>,
  locals: Readonly<Record<string, unknown>>,
): TableView['file'] {
  if (format !== 'csv') return undefined;
  const parts = Object.values(locals) as ({ file?: unknown; value?: unknown; table?: unknown } | null)[];
  const views = parts.flatMap((part) => [part, part?.value, (part?.value as typeof part)?.table]);
  const tables = views as (Partial<TableView> | null | undefined)[];
  return tables.find((each) => each?.file?.name === table)?.file;
}

/**
 * Makes the view of one page of a list. The filters, the order and the page are in the URL: `cursor` names
 * the page, and a changed filter starts at the first page.
 * @param next cursor of the next page; absent on the last.
 */
export function tableView<Row>(
  reader: ConsoleReader,
  {
    caption,
    columns,
    rows,
    path = '',
    filters,
    cursor,
    next,
    file,
    csv = file,
  }: {
    caption: string;
    columns: readonly Column<Row>[];
    rows: readonly Row[];
    /** Of the page, if the table has several pages, filters or an export. */
    path?: string;
    filters?: Filters;
    cursor?: string;
    next?: string;
    /** Of a list: the parameter `table` of its export; empty if the page has one table. */
    csv?: string;
    /** Of a table without further pages: the name of its file, which the page sends by itself. */
    file?: string;
  },
): TableView {
  const values = filters?.values ?? {};
  return {
    caption,
    columns: columns.map(({ label, isNumber = false }) => ({ label, isNumber })),
    rows: rows.map((row) => ({ cells: columns.map(({ label, cell }) => labelled(label, cell(row))) })),
    ...(next && { nextUrl: withQuery(path, { ...values, cursor: next }) }),
    ...(cursor && { firstUrl: withQuery(path, values) }),
    ...(csv !== undefined &&
      rows.length > 0 && { csvUrl: withQuery(path, { ...values, format: 'csv', table: csv }) }),
    ...(file !== undefined && { file: { name: file, text: () => csvText(columns, rows) } }),
    empty: rows.length > 0 || cursor ? null : filters?.isSet ? 'no-match' : 'none',
    clearUrl: path,
    result: reader.t('list.rows', { count: rows.length }),
  };
}

function labelled(label: string, cell: CellView): LabelledCell {
  const isEmpty = cell.text === '–' && !cell.note;
  return { ...cell, isEmpty, ...(cell.text !== label && { label }) };
}
