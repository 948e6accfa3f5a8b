import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import canonicalize from 'canonicalize';
import { parseForeignJson } from '#lib/json/check-json.ts';

/** A fault in exported evidence; the message names the file and the place. */
export class EvidenceFault extends Error {}

/** An object of a file, with the text that it was written as. */
export interface ReadObject {
  value: Record<string, unknown>;
  text: string;
  /** File and line, for faults. */
  place: string;
}

const lineFeed = 0x0a;
/** Longest line: a receipt with many long texts has some MiB. */
const maxLineBytes = 128 * 1024 * 1024;
const blockBytes = 64 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a file of JSON objects, one a line, each with a line feed.
 * @throws EvidenceFault for a missing file or another line.
 */
export async function* readObjects(file: string): AsyncGenerator<ReadObject> {
  const name = path.basename(file);
  let number = 0;
  for await (const line of readBytes(file)) {
    number += 1;
    yield parseObject(line, `${name}, line ${number}`);
  }
}

async function* readBytes(file: string): AsyncGenerator<Buffer> {
  const name = path.basename(file);
  let rest: Buffer[] = [];
  let length = 0;
  const chunks = createReadStream(file, { highWaterMark: blockBytes }) as AsyncIterable<Buffer>;
  for await (const chunk of named(chunks, name)) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      const piece = chunk.subarray(start, end);
      yield rest.length > 0 ? Buffer.concat([...rest, piece]) : piece;
      rest = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > maxLineBytes) throw new EvidenceFault(`${name}: a line is too long.`);
  }
  if (rest.length === 0) return;
  yield Buffer.concat(rest);
  throw new EvidenceFault(`${name}: the last line has no line feed.`);
}

/**
 * Reads a file of JSON objects from its end, so that a list with the newest first is read as it was made.
 * @param lines number of lines of the file.
 * @throws EvidenceFault for a missing file or another line.
 */
export async function* readObjectsBackwards(file: string, lines: number): AsyncGenerator<ReadObject> {
  const name = path.basename(file);
  const handle = await open(file).catch((error: Error) => {
    throw unreadable(error, name);
  });
  try {
    let number = lines;
    for await (const line of readBytesBackwards(handle, name)) {
      yield parseObject(line, `${name}, line ${number}`);
      number -= 1;
    }
  } finally {
    await handle.close();
  }
}

async function* readBytesBackwards(handle: FileHandle, name: string): AsyncGenerator<Buffer> {
  let { size: position } = await handle.stat();
  let block = Buffer.alloc(0);
  let isLast = true;
  while (position > 0) {
    const length = Math.min(blockBytes, position);
    position -= length;
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, position);
    block = Buffer.concat([buffer, block]);
    if (isLast) {
      if (block.at(-1) !== lineFeed) throw new EvidenceFault(`${name}: the last line has no line feed.`);
      block = block.subarray(0, -1);
      isLast = false;
    }
    for (let at = block.lastIndexOf(lineFeed); at >= 0; at = block.lastIndexOf(lineFeed)) {
      yield block.subarray(at + 1);
      block = block.subarray(0, at);
    }
    if (block.length > maxLineBytes) throw new EvidenceFault(`${name}: a line is too long.`);
  }
  if (!isLast) yield block;
}

async function* named(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, name);
  }
}

/** @returns the fault of a file that cannot be read. */
export function unreadable(error: NodeJS.ErrnoException, name: string): EvidenceFault {
  return error.code === 'ENOENT'
    ? new EvidenceFault(`${name} is missing.`)
    : new EvidenceFault(`${name} cannot be read (${error.code ?? error.message}).`);
}

/** @throws EvidenceFault unless the bytes are a JSON object in UTF-8 without repeated members. */
export function parseObject(bytes: Uint8Array, place: string): ReadObject {
  try {
    const text = utf8.decode(bytes);
    const value = parseForeignJson(bytes);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown>, text, place };
  } catch {
    // Reported below.
  }
  throw new EvidenceFault(`${place}: not a JSON object.`);
}

/**
 * The canonical form of a JSON value (RFC 8785).
 * @throws EvidenceFault if it has none: a text with a lone surrogate.
 */
export function canonicalText(value: unknown, place: string): string {
  try {
    return canonicalize(value) as string;
  } catch {
    throw new EvidenceFault(`${place}: the JSON has no canonical form (RFC 8785).`);
  }
}

/**
 * Only one text is right for an object (RFC 8785): without a byte order mark, blanks or another order.
 * @throws EvidenceFault.
 */
export function requireCanonical({ value, text, place }: ReadObject): void {
  if (canonicalText(value, place) !== text)
    throw new EvidenceFault(`${place}: the JSON is not written in its canonical form (RFC 8785).`);
}

/** @throws EvidenceFault unless the object has exactly these members. */
export function requireMembers({ value, place }: ReadObject, names: readonly string[]): void {
  const found = Object.keys(value);
  if (found.length !== names.length || !names.every((name) => Object.hasOwn(value, name)))
    throw new EvidenceFault(`${place}: the members are not ${names.join(', ')}.`);
}
