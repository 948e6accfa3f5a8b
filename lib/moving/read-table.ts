import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { TextDecoderStream } from 'node:stream/web';
import { parse } from 'csv-parse';
import { StartupError } from '#lib/errors/fail.ts';

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

/** A line of a table: its cells by column. */
export interface TableLine {
  /** Of the file, from 1: the first one, because a cell may have line breaks. */
  line: number;
  /** As it is written, without the line break at its end. */
  text: string;
  cells: Readonly<Record<string, string>>;
  /** Column of a cell with a quote that neither surrounds it nor is doubled; it may have swallowed lines. */
  quoteIn: string | undefined;
}

/** How a table is written; undefined: as its first bytes say. A byte order mark counts more. */
export interface TableFormat {
  encoding?: Encoding | undefined;
  separator?: string | undefined;
}

/** The names of the columns, and what divides them. */
export interface TableHead {
  columns: string[];
  separator: string;
}

const sampleBytes = 64 * 1024;
const maxRecordBytes = 2 * 1024 * 1024;

/**
 * Reads a table with a head, line after line: CSV after RFC 4180, with `,`, `;` or a tab between the cells.
 * Bytes that the encoding does not have become U+FFFD.
 * @param onHead is told of the head before the first line.
 * @throws StartupError for a table that cannot be read on, with its place.
 */
export async function* readTable(
  file: string,
  format: TableFormat,
  onHead: (head: TableHead) => void,
): AsyncGenerator<TableLine> {
  const sample = await readStart(file);
  const encoding = markedEncoding(sample) ?? format.encoding ?? 'utf-8';
  const [head = ''] = new TextDecoder(encoding).decode(sample).split(/\r\n|\n|\r/, 1);
  const separator = format.separator ?? likelySeparator(head);
  let names: string[] = [];
  let counted = 0;
  const columns = (given: string[]) => {
    names = given.map((name) => name.trim());
    onHead({ columns: names, separator });
    return names;
  };
  const text = Readable.toWeb(createReadStream(file)).pipeThrough(new TextDecoderStream(encoding));
  const records = Readable.fromWeb(text).pipe(
    parse({
      columns,
      delimiter: separator,
      info: true,
      raw: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRecordBytes,
    }),
  );
  try {
    for await (const { record, info, raw } of records as AsyncIterable<Parsed>) {
      const text = raw.replace(/\r?\n$|\r$/, '');
      // CRLF in a cell has been counted twice.
      counted += text.split('\r\n').length - 1;
      const line = info.lines - counted - (text.split(/\r\n|\n|\r/).length - 1);
      const stray = strayQuote(text, separator);
      yield { line, text, cells: record, quoteIn: stray === undefined ? undefined : (names[stray] ?? '') };
    }
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    throw new StartupError(`${path.basename(file)} is no table: ${cause.message}.`, { cause });
  }
}

interface Parsed {
  record: Record<string, string>;
  info: { lines: number };
  raw: string;
}

async function readStart(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** By the byte order mark. */
function markedEncoding(start: Buffer): Encoding | undefined {
  const [first, second, third] = start;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** What is between the names in the head most often. */
function likelySeparator(head: string): string {
  const bare = head.replaceAll(/"[^"]*"/g, '');
  const often = [',', ';', '\t'].map((each) => [each, bare.split(each).length] as const);
  return often.reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

/**
 * Finds a quote that RFC 4180 does not have.
 * @returns the number of its cell, from 0; undefined if there is none.
 */
export function strayQuote(line: string, separator: string): number | undefined {
  if (!line.includes('"')) return undefined;
  let cell = 0;
  for (let at = 0; at <= line.length; cell += 1) {
    const isQuoted = line[at] === '"';
    const end = isQuoted ? endOfQuoted(line, at) : line.indexOf(separator, at);
    const stop = end < 0 ? line.length : end;
    if (isQuoted ? end < 0 || (stop < line.length && line[stop] !== separator) : hasQuote(line, at, stop))
      return cell;
    at = stop + 1;
  }
  return undefined;
}

const hasQuote = (line: string, start: number, end: number) => {
  const at = line.indexOf('"', start);
  return at >= 0 && at < end;
};

/** The place behind the closing quote; -1 if there is none. */
function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start + 1); at >= 0; at = line.indexOf('"', at + 2))
    if (line[at + 1] !== '"') return at + 1;
  return -1;
}

/** The text of a cell, without the `'` with which exports keep spreadsheets from seeing a formula. */
export function cellText(cell: string): string {
  return cell.trim().replace(/^'(?=[=+\-@＝＋－＠])/u, '');
}
