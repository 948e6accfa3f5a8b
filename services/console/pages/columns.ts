import type { ConsoleReader } from './console-reader.ts';
import { stateMark } from './states.ts';
import { type CellView, type Column, type TableView, tableView } from './table.ts';

/**
 * Columns of lists of `Row`. `label` is the key of a message; a value that is absent is shown as a dash and
 * is empty in CSV. In CSV states and words are the codes of the API.
 */
export function columnsFor<Row>(reader: ConsoleReader) {
  const column = (label: string, rest: Omit<Column<Row>, 'label'>) => ({ label: reader.t(label), ...rest });
  type Value<T> = (row: Row) => T | undefined;
  /** A link on the value, and a quieter text below. */
  type More = { href?: Value<string>; note?: Value<string> };
  const more = (row: Row, { href, note }: More) => ({ href: href?.(row), note: note?.(row) });
  return {
    text: (label: string, value: Value<string>, rest: More = {}): Column<Row> =>
      column(label, {
        cell: (row) => ({ text: value(row) || '–', ...more(row, rest) }),
        csv: (row) => value(row) ?? '',
      }),
    /** A key, URL or code. */
    code: (label: string, value: Value<string>, rest: More = {}): Column<Row> =>
      column(label, {
        cell: (row) => ({ ...codeCell(value(row)), ...more(row, rest) }),
        csv: (row) => value(row) ?? '',
      }),
    /** A code of the API, shown as its word. */
    word: (label: string, group: string, value: (row: Row) => string, rest: More = {}): Column<Row> =>
      column(label, {
        cell: (row) => ({ text: reader.word(group, value(row)), ...more(row, rest) }),
        csv: value,
      }),
    state: (label: string, group: string, value: (row: Row) => string, rest: More = {}): Column<Row> =>
      column(label, {
        cell: (row) => ({ state: stateMark(reader, group, value(row)), ...more(row, rest) }),
        csv: value,
      }),
    /** @param never what is shown without a time. */
    time: (label: string, value: Value<string | number>, never = '–'): Column<Row> =>
      column(label, {
        cell: (row) => timeCell(reader, value(row), never),
        csv: (row) => {
          const at = value(row);
          return at === undefined ? '' : new Date(at).toISOString();
        },
      }),
    /** A link to something else, which is not exported. */
    link: (label: string, word: string | ((row: Row) => string), href: Value<string>): Column<Row> => ({
      label: reader.t(label),
      cell: (row) => {
        if (href(row) === undefined) return { text: '–' };
        return { text: reader.t(typeof word === 'string' ? word : word(row)), href: href(row) };
      },
    }),
    number: (label: string, value: (row: Row) => number): Column<Row> =>
      column(label, {
        isNumber: true,
        cell: (row) => ({ number: reader.number(value(row)) }),
        csv: value,
      }),
  };
}

/** What columns of `Row` are made with. */
export type Columns<Row> = ReturnType<typeof columnsFor<Row>>;

/** A table of one page, without filters. @param caption key of a message. */
export function shortTable<Row>(
  reader: ConsoleReader,
  caption: string,
  {
    rows,
    columns,
    file,
  }: {
    rows: readonly Row[];
    columns(make: Columns<Row>): readonly Column<Row>[];
    /** Name of the file that the page sends of it; without one it is not exported. */
    file?: string;
  },
): TableView {
  const made = columns(columnsFor<Row>(reader));
  return tableView(reader, { caption: reader.t(caption), rows, columns: made, ...(file && { file }) });
}

/** @param never what is shown without a time. */
export function timeCell(reader: ConsoleReader, at: string | number | undefined, never = '–'): CellView {
  return at === undefined ? { text: never } : { time: reader.time(at) };
}

function codeCell(code: string | undefined): CellView {
  return code ? { code } : { text: '–' };
}

/** A fact about a thing, as the pages of things print it. */
export interface FactView {
  label: string;
  cell: CellView;
}

/** Facts by the key of their message, in order; those without a cell are left out. */
export function factsView(
  reader: ConsoleReader,
  facts: Readonly<Record<string, CellView | false | '' | undefined>>,
): FactView[] {
  return Object.entries(facts).flatMap(([label, cell]) => (cell ? [{ label: reader.t(label), cell }] : []));
}
