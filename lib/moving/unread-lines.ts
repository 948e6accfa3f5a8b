import type { ReadableStream } from 'node:stream/web';

/** A line of a file, without its line break. */
export interface FileLine {
  line: number;
  text: string;
}

/** Lines by LF, CRLF or CR. */
async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pieces: string[] = [];
  let isAfterReturn = false;
  for await (const chunk of chunks) {
    const fresh = isAfterReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') isAfterReturn = chunk.endsWith('\r');
    const [first = '', ...others] = fresh.split(/\r\n|\n|\r/);
    pieces.push(first);
    for (const next of others) {
      yield pieces.join('');
      pieces = [next];
    }
  }
  const last = pieces.join('');
  if (last !== '') yield last;
}

/** Where a line of a text ends. */
export interface TextPlace {
  /** In UTF-8, with its line break. */
  bytes: number;
  line: number;
}

/** The lines of a text behind one of its lines. */
export async function* linesBehind(
  text: ReadableStream<string>,
  { bytes, line }: TextPlace,
): AsyncGenerator<FileLine> {
  let number = line;
  for await (const each of splitLines(behind(text, bytes))) {
    number += 1;
    yield { line: number, text: each };
  }
}

async function* behind(text: ReadableStream<string>, bytes: number): AsyncGenerator<string> {
  let left = bytes;
  for await (const chunk of text) {
    const size = left > 0 ? Buffer.byteLength(chunk) : 0;
    if (left === 0) yield chunk;
    else if (size > left) yield Buffer.from(chunk).subarray(left).toString();
    left = Math.max(0, left - size);
  }
}

/** The first cell of a line whose quote is not closed, from 0, and the lines of the text above it. */
export function findOpenQuote(
  text: string,
  separator: string,
): { cell: number; linesAbove: number } | undefined {
  let cell = 0;
  for (let at = 0; at <= text.length; cell += 1) {
    const end = text[at] === '"' ? endOfQuoted(text, at) : at;
    if (end < 0) return { cell, linesAbove: text.slice(0, at).split(/\r\n|\n|\r/).length - 1 };
    const next = text.indexOf(separator, end);
    if (next < 0) return undefined;
    at = next + separator.length;
  }
  return undefined;
}

/** The place behind the closing quote; -1 if there is none. */
export function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start + 1); at >= 0; at = line.indexOf('"', at + 2))
    if (line[at + 1] !== '"') return at + 1;
  return -1;
}
