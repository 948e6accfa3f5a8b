import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'csv-parse';
import type { JWK } from 'jose';
import { Failure, type Fault, fail } from '#lib/errors/fail.ts';
import { decodeUtf8 } from '#lib/http/request-body.ts';
import { parseForeignJson } from '#lib/json/check-json.ts';
import { type ImportRow, readRow } from './row.ts';

/** Rows of one request. */
const maxRows = 5_000;
/** Lines of one request, empty ones among them. */
const maxLines = 3 * maxRows;
/** Rows that are read before other requests have their turn. */
const rowsPerTurn = 100;

/** The rows of a body, with the keys of the receipts in it. */
export interface ReadRows {
  keys: JWK[];
  /** In their order; a row with faults is not taken over. */
  rows: (ImportRow | Fault[])[];
}

/**
 * Reads the body of an import (openapi.yaml, `importRecords`).
 * @throws Failure `malformed` for a body that is not read as rows at all; `too-large` for too many rows.
 */
export async function readRows(body: Buffer, isCsv: boolean, now: Date): Promise<ReadRows> {
  const read: ReadRows = { keys: [], rows: [] };
  let isFirst = true;
  for await (const value of isCsv ? readCsv(body) : readLines(body)) {
    const keys: JWK[] | undefined = isFirst ? keysOf(value) : undefined;
    isFirst = false;
    if (keys) {
      read.keys = keys;
      continue;
    }
    if (read.rows.length === maxRows) throw fail('too-large', `A request has at most ${maxRows} rows.`);
    read.rows.push(value === notJson ? [malformed] : readRow(value, now));
    if (read.rows.length % rowsPerTurn === 0) await nextTurn();
  }
  return read;
}

const notJson = Symbol('not JSON');
const malformed = { pointer: '', code: 'malformed', detail: 'is not JSON in UTF-8 with unique members' };
const lineFeed = 0x0a;

function* readLines(body: Buffer): Generator<unknown> {
  let lines = 0;
  for (let start = 0; start < body.length; ) {
    lines += 1;
    if (lines > maxLines) throw fail('too-large', `A request has at most ${maxRows} rows.`);
    const found = body.indexOf(lineFeed, start);
    const end = found < 0 ? body.length : found;
    const line = body.subarray(start, end);
    start = end + 1;
    if (line.length === 0 || (line.length === 1 && line[0] === 0x0d)) continue;
    yield parseLine(line);
  }
}

function parseLine(line: Buffer): unknown {
  try {
    return parseForeignJson(line);
  } catch {
    return notJson;
  }
}

/** The first line may have the keys that verify receipts. @throws Failure `malformed`. */
function keysOf(value: unknown): JWK[] | undefined {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return undefined;
  const { keys } = value.keys as { keys?: unknown };
  const isKey = (key: unknown) => typeof key === 'object' && key !== null;
  if (Array.isArray(keys) && keys.length <= 100 && keys.every(isKey)) return keys as JWK[];
  throw fail('malformed', 'The first line must be {"keys": {"keys": [JWK]}}, with at most 100 keys.');
}

/** A table with the members of a row as head; several answers are divided by line breaks. */
async function* readCsv(body: Buffer): AsyncGenerator<unknown> {
  decodeUtf8(body);
  if (body.length > maxHeadBytes && !body.subarray(0, maxHeadBytes).includes(lineFeed))
    throw fail('malformed', `The head of the table must end within ${maxHeadBytes} bytes.`);
  const records = Readable.from(piecesOf(body), { objectMode: false }).pipe(
    parse({ bom: true, columns: uniqueNames, skip_empty_lines: true, max_record_size: 2 * 1024 * 1024 }),
  );
  try {
    for await (const record of records) yield rowOf(record as Record<string, string>);
  } catch (cause) {
    if (cause instanceof Failure || !(cause instanceof Error) || !('code' in cause)) throw cause;
    throw fail('malformed', `The table is not CSV: ${cause.message}.`, { cause });
  }
}

/** The head of a table. @throws Failure `malformed` for a name that is there twice. */
function uniqueNames(names: string[]): string[] {
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice === undefined) return names;
  throw fail('malformed', `The head of the table has the column ${JSON.stringify(twice)} twice.`);
}

/** Pieces of a table: between them other requests have their turn, also within a record. */
async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < body.length; start += pieceBytes) {
    yield body.subarray(start, start + pieceBytes);
    await nextTurn();
  }
}

const pieceBytes = 32_768;
const maxHeadBytes = 8_192;

/** A row of a table. A cell of evidence without its kind is a fault, so that no proof is left behind. */
function rowOf({
  answer = '',
  evidence = '',
  evidenceKind = '',
  evidenceValue = '',
  ...row
}: Record<string, string>) {
  const isProved = evidenceKind !== '' || evidenceValue !== '';
  const proof = isProved ? { kind: evidenceKind, value: evidenceValue } : undefined;
  return {
    ...row,
    answer: answer === '' ? [] : answer.split('\n'),
    evidence: evidence === '' ? proof : evidence,
  };
}
