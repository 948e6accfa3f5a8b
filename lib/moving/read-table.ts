import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type ReadableStream, TextDecoderStream } from 'node:stream/web';
import { CsvError, parse } from 'csv-parse';
import { StartupError } from '#lib/errors/fail.ts';
import {
  endOfQuoted,
  type FileLine,
  findOpenQuote,
  linesBehind,
  type TextPlace,
} from '#lib/moving/unread-lines.ts';

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

/** A line that is not read, because the table cannot be divided into lines from there on. */
export interface UnreadLine extends FileLine {
  /** Of the first one: why, and where. */
  fault?: { line: number; column: string; text: string };
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
 * Bytes that the encoding does not have become U+FFFD. Behind a quote that is never closed nothing is read.
 * @param onHead is told of the head before the first line.
 * @throws StartupError for a head that cannot be read.
 */
export async function* readTable(
  file: string,
  format: TableFormat,
  onHead: (head: TableHead) => void,
): AsyncGenerator<TableLine | UnreadLine> {
  const sample = await readStart(file);
  const encoding = markedEncoding(sample) ?? format.encoding ?? 'utf-8';
  const [headLine = '', head = ''] =
    /^([^\r\n]*)(?:\r\n|\n|\r)?/.exec(new TextDecoder(encoding).decode(sample)) ?? [];
  const separator = format.separator ?? likelySeparator(head);
  const openText = () => Readable.toWeb(createReadStream(file)).pipeThrough(new TextDecoderStream(encoding));
  let names: string[] | undefined;
  const columns = (given: string[]) => {
    names = given.map((name) => name.trim());
    onHead({ columns: names, separator });
    return names;
  };
  let counted = 0;
  /** Of what was read. */
  const end: TextPlace = { bytes: Buffer.byteLength(headLine), line: 1 };
  try {
    for await (const { record, info, raw } of parseRecords(openText(), { columns, delimiter: separator })) {
      // Empty lines above are part of it.
      const text = raw.replace(/^[\r\n]+/, '').replace(/\r?\n$|\r$/, '');
      // CRLF in a cell has been counted twice.
      counted += text.split('\r\n').length - 1;
      Object.assign(end, { bytes: info.bytes, line: info.lines - counted });
      const line = end.line - (text.split(/\r\n|\n|\r/).length - 1);
      const stray = strayQuote(text, separator);
      yield { line, text, cells: record, quoteIn: stray === undefined ? undefined : (names?.[stray] ?? '') };
    }
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    if (!names) throw new StartupError(`${path.basename(file)} is no table: ${cause.message}.`, { cause });
    yield* unreadLines(openText, end, { separator, columns: names });
  }
}

type Fault = Error | null | undefined;

/** Records as csv-parse has them: all up to the first fault, which its stream would lose with the fault. */
async function* parseRecords(
  text: ReadableStream<string>,
  options: { columns: (given: string[]) => string[]; delimiter: string },
): AsyncGenerator<Parsed> {
  const found: Parsed[] = [];
  const parser = parse({
    ...options,
    info: true,
    raw: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
    on_record(record: Parsed) {
      found.push(record);
      return null;
    },
  });
  parser.on('error', () => {}); // The callbacks have it.
  for await (const chunk of text) {
    const fault = await new Promise<Fault>((done) => parser.write(chunk, done));
    yield* found.splice(0);
    if (fault) throw fault;
  }
  const fault = await new Promise<Fault>((done) => parser.end(done));
  yield* found.splice(0);
  if (fault) throw fault;
}

/** The lines that were not read. csv-parse does not say where the quote is that it has not seen closed. */
async function* unreadLines(
  open: () => ReadableStream<string>,
  end: TextPlace,
  { separator, columns }: TableHead,
): AsyncGenerator<UnreadLine> {
  let text = '';
  for await (const each of linesBehind(open(), end)) {
    text += `${each.text}\n`;
    if (text.length > maxRecordBytes) break;
  }
  const quote = findOpenQuote(text, separator);
  const why = quote ? 'opens a quote that is never closed' : 'is in a line of more than 2 MiB';
  let fault: UnreadLine['fault'] = {
    line: end.line + 1 + (quote?.linesAbove ?? 0),
    column: columns[quote?.cell ?? 0] ?? '',
    text: `${why}; nothing is read from line ${end.line + 1} on`,
  };
  for await (const line of linesBehind(open(), end)) {
    yield { ...line, ...(fault && { fault }) };
    fault = undefined;
  }
}

interface Parsed {
  record: Record<string, string>;
  info: { lines: number; bytes: number };
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

/** The text of a cell, without the `'` with which exports keep spreadsheets from seeing a formula. */
export function cellText(cell: string): string {
  return cell.trim().replace(/^'(?=[=+\-@＝＋－＠])/u, '');
}
