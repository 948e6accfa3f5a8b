import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import { createTimeReader, isTimeZone } from '#lib/moving/local-time.ts';
import { columnsOf, type Mapping } from '#lib/moving/mapping.ts';
import { cellText, readTable, type TableHead, type TableLine } from '#lib/moving/read-table.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';

/**
 * Rows of a table of another system. A line with a fault has none, and the fault names line and column.
 * @throws StartupError, while it is read, for a head that does not fit the mapping.
 */
export function readMapped(file: string, mapping: Mapping): ImportSource {
  const name = path.basename(file);
  let head: TableHead | undefined;
  return { keys: undefined, items: items(), rejectedHead: () => (head ? headLine(head) : '') };

  async function* items(): AsyncGenerator<SourceItem> {
    const translate = createTranslator(mapping);
    const onHead = (read: TableHead) => {
      head = read;
      requireColumns(name, read, mapping);
    };
    for await (const read of readTable(file, mapping, onHead)) {
      const { line, text } = read;
      const place = (at: number, column: string) => `${name}, line ${at}, column ${column}`;
      if ('cells' in read)
        for (const { column, ...rest } of translateLine(read, translate))
          yield { place: place(line, column), original: { line, text }, ...rest };
      else {
        const { fault = { line, column: '', text: unread } } = read;
        const isTold = read.fault !== undefined;
        yield { place: place(fault.line, fault.column), original: { line, text }, fault: fault.text, isTold };
      }
    }
  }
}

/** Of a line that follows an unreadable line, whose fault says why. */
const unread = 'was not read';

function translateLine({ cells, quoteIn }: TableLine, translate: Translator): Translated[] {
  return quoteIn === undefined ? translate(cells) : [quoteFault(quoteIn)];
}

const quoteFault = (column: string) => ({
  column,
  fault: 'has a quote inside: quotes stand around a whole cell, and are doubled in it',
});

function requireColumns(name: string, { columns }: TableHead, mapping: Mapping): void {
  const faults = columnsOf(mapping).flatMap((column) => {
    const number = columns.filter((each) => each === column).length;
    if (number === 1) return [];
    return `column ${column}: ${number === 0 ? 'is not there' : 'is there more than once'}`;
  });
  if (faults.length > 0)
    throw new StartupError([`The head of ${name} does not fit the mapping:`, ...faults].join('\n  '));
}

/** The head of a file of rejected lines, in UTF-8 with a byte order mark, whatever the mapping says. */
function headLine({ columns, separator }: TableHead): string {
  const quote = (cell: string) => (/["\r\n,;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return `\uFEFF${columns.map(quote).join(separator)}\n`;
}

type Translated = { column: string } & ({ row: Record<string, unknown> } | { fault: string });

/** A fault in a cell. */
class CellFault extends Error {
  readonly column: string;

  constructor(column: string, fault: string) {
    super(fault);
    this.column = column;
  }
}

/** Translates the cells of a line into its rows, or its faults. */
type Translator = (cells: TableLine['cells']) => Translated[];

function createTranslator(mapping: Mapping): Translator {
  const readTime = createTimeReader(mapping.time);
  const readExpiry = createTimeReader(mapping.time);
  const attempt = (work: () => Translated[]): Translated[] => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof CellFault)) throw error;
      return [{ column: error.column, fault: error.message }];
    }
  };
  return (cells) =>
    attempt(() => {
      const common = commonOf(cells);
      if (mapping.columns)
        return Object.entries(mapping.columns).flatMap(([column, { element, serial, words }]) =>
          attempt(() => rowOf({ column, element, serial, words, suffix: `/${column}` }, cells, common)),
        );
      const named = wordOf(cells, mapping.element as NonNullable<Mapping['element']>);
      if (named === null) return [];
      const { column = '', words } = mapping.answer ?? {};
      return rowOf({ column, ...named, words, suffix: '' }, cells, common);
    });

  function commonOf(cells: TableLine['cells']) {
    const { subject, id, object, author, comment, expires, evidence, time } = mapping;
    const zone = time.zoneColumn === undefined ? undefined : required(cells, time.zoneColumn);
    if (zone !== undefined && !isTimeZone(zone))
      throw new CellFault(time.zoneColumn ?? '', `${JSON.stringify(zone)} is no time zone`);
    const given = readTime(required(cells, time.column), zone);
    if (given === undefined) throw new CellFault(time.column, timeFault(cells[time.column]));
    const optional = (column: string | undefined) => (column === undefined ? '' : cellOf(cells, column));
    const expiry = optional(expires);
    const until = expiry === '' ? undefined : readExpiry(expiry, zone);
    if (expiry !== '' && until === undefined) throw new CellFault(expires ?? '', timeFault(expiry));
    const proof = optional(evidence?.column);
    const row = {
      subject: required(cells, subject),
      object: optional(object),
      author: optional(author),
      comment: optional(comment),
      given,
      expires: until ?? '',
      validity: until === undefined ? mapping.validity : undefined,
      information: mapping.information,
      informationSerial: mapping.informationSerial,
      evidence: proof === '' ? undefined : { kind: evidence?.kind, value: proof },
      source: mapping.source,
    };
    return { row: withoutEmpty(row), id: required(cells, id), given };
  }

  function timeFault(text = '') {
    const { format, zone, zoneColumn } = mapping.time;
    const needsZone = zone === undefined && zoneColumn === undefined;
    return `${JSON.stringify(text)} is no time that exists${format ? ` as ${format}` : ''}${needsZone ? '; times without an offset need a zone in the mapping' : ''}`;
  }
}

interface Asked {
  column: string;
  element: string;
  serial: string;
  words: NonNullable<Mapping['answer']>['words'] | undefined;
  suffix: string;
}

function rowOf(
  { column, element, serial, words, suffix }: Asked,
  cells: TableLine['cells'],
  { row, id, given }: { row: Record<string, unknown>; id: string; given: string },
): Translated[] {
  const answer = words ? wordOf(cells, { column, words }) : cellOf(cells, column);
  if (answer === null || answer === '') return [];
  // The same person answers again later: the time makes it another answer.
  const sourceId = `${id}${suffix}/${given}`;
  return [{ column, row: { ...row, element, serial, answer: [answer].flat(), sourceId } }];
}

/** What a word stands for, upper and lower case alike. */
function wordOf<Value>(
  cells: TableLine['cells'],
  { column, words }: { column: string; words: Readonly<Record<string, Value>> },
): Value {
  const text = cellOf(cells, column);
  const found = Object.entries(words).find(([word]) => word.toLowerCase() === text.toLowerCase());
  if (found) return found[1];
  throw new CellFault(column, `${JSON.stringify(text)} is none of the words of the mapping`);
}

function required(cells: TableLine['cells'], column: string): string {
  const text = cellOf(cells, column);
  if (text === '') throw new CellFault(column, 'is empty');
  return text;
}

function cellOf(cells: TableLine['cells'], column: string): string {
  const cell = cells[column];
  if (cell === undefined) throw new CellFault(column, 'is not there');
  if (cell.includes('\uFFFD'))
    throw new CellFault(column, 'has bytes of another encoding than the rest; name it in the mapping');
  return cellText(cell);
}

function withoutEmpty(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '' && value !== undefined));
}
