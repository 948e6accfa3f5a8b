import type { Fault } from '#lib/errors/fail.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { addDuration, readDuration } from '#lib/text/duration.ts';
import { parseTimestamp } from '#lib/text/timestamp.ts';
import { invalid, isFault, parseHttpUrl, parseSubject, parseText } from '../transaction/values.ts';

/** What proves an answer: a receipt of an instance, the SHA-256 of a document, or where a document is. */
export interface Evidence {
  kind: 'RECEIPT' | 'HASH' | 'URL';
  value: string;
}

/** An answer that was given in another system (docs/moving.md, "What is taken over"). */
export interface ImportRow {
  subject: string;
  /** Empty for none. */
  object: string;
  key: string;
  serial: string;
  answer: string[];
  givenAt: Date;
  /** When it expires; null: never; undefined: as its element says. */
  expiresAt: Date | null | undefined;
  /** The system, and the id of the answer in it. */
  source: string;
  sourceId: string;
  author: string | null;
  comment: string | null;
  /** Undefined: the default information, and its ACTIVE version. */
  information: { key?: string; serial?: string };
  evidence: Evidence | null;
}

/** A row with its place in the request, from 1. */
export type NumberedRow = ImportRow & { row: number };

/** Why rows are rejected, by their places. */
export type RowFaults = ({ row: number } & Fault)[];

/** Longest evidence: a receipt of 100 elements. */
const maxEvidence = 1_048_576;
const maxOptions = 100;
const maxAnswer = 4_000;
/** An element may say as long. */
const longestValidity = 'P50Y';
const serialPattern = /^\d{1,9}\.\d{1,9}$/;
const kinds: readonly string[] = ['RECEIPT', 'HASH', 'URL'] satisfies Evidence['kind'][];

const members = [
  'subject',
  'object',
  'element',
  'serial',
  'answer',
  'given',
  'expires',
  'validity',
  'source',
  'sourceId',
  'author',
  'comment',
  'information',
  'informationSerial',
  'evidence',
];

/** Reads one row. @param now answers of the future are refused. */
export function readRow(value: unknown, now: Date): ImportRow | Fault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ pointer: '', code: 'malformed', detail: 'is not an object' }];
  const given = value as Readonly<Record<string, unknown>>;
  const faults: Fault[] = [];
  const keep = <Value>(read: Value | Fault): Value | undefined => {
    if (!isFault(read)) return read;
    faults.push(read);
    return undefined;
  };
  for (const name of Object.keys(given))
    if (!members.includes(name)) faults.push(invalid(pointerOf(name), 'is not a member of a row'));
  const text = (name: string, max: number) => keep(readText(given, name, max));
  const optional = (name: string, max: number) => (isLeftOut(given[name]) ? null : (text(name, max) ?? null));
  const subject = keep(isText(given.subject) ? parseSubject(at(given, 'subject')) : notText('subject'));
  const givenAt = keep(readTime(given, 'given'));
  if (givenAt && givenAt > now) faults.push(invalid('/given', 'is in the future'));
  const row = {
    subject,
    object: optional('object', 255) ?? '',
    key: text('element', 255),
    serial: keep(readSerial(given, 'serial')),
    answer: keep(readAnswer(given.answer)),
    givenAt,
    expiresAt: givenAt && keep(readExpiry(given, givenAt)),
    source: text('source', 255),
    sourceId: text('sourceId', 512),
    author: optional('author', 255),
    comment: optional('comment', 4_000),
    information: readInformation(),
    evidence: isLeftOut(given.evidence) ? null : (keep(readEvidence(given.evidence)) ?? null),
  };
  return faults.length > 0 ? faults : (row as ImportRow);

  function readInformation() {
    const key = optional('information', 255);
    const serial = isLeftOut(given.informationSerial) ? null : keep(readSerial(given, 'informationSerial'));
    return { ...(key && { key }), ...(serial && { serial }) };
  }
}

/** A member that is absent, or an empty cell of a table. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

const pointerOf = (name: string) =>
  `/${name.toWellFormed().slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`;
const at = (given: Readonly<Record<string, unknown>>, name: string) => ({
  value: given[name],
  pointer: `/${name}`,
});
const isText = (value: unknown): value is string => typeof value === 'string' && isStorable(value);
const notText = (name: string) => invalid(`/${name}`, 'must be a text without NUL and lone surrogates');

function readText(given: Readonly<Record<string, unknown>>, name: string, max: number): string | Fault {
  return isText(given[name]) ? parseText(at(given, name), max) : notText(name);
}

function readSerial(given: Readonly<Record<string, unknown>>, name: string): string | Fault {
  const value = given[name];
  return typeof value === 'string' && serialPattern.test(value)
    ? value
    : invalid(`/${name}`, 'must be a serial such as 1.0');
}

function readTime(given: Readonly<Record<string, unknown>>, name: string): Date | Fault {
  const value = given[name];
  const time = typeof value === 'string' ? parseTimestamp(value) : undefined;
  return time ?? invalid(`/${name}`, 'must be a time such as 2026-05-03T10:00:00Z, or a date');
}

function readExpiry(
  given: Readonly<Record<string, unknown>>,
  givenAt: Date,
): Date | null | undefined | Fault {
  const { expires, validity } = given;
  if (expires === null) return null;
  if (!isLeftOut(expires)) {
    const time = readTime(given, 'expires');
    return !isFault(time) && time < givenAt ? invalid('/expires', 'is before the answer was given') : time;
  }
  if (isLeftOut(validity)) return undefined;
  const read = readDuration(String(validity), longestValidity);
  return 'fault' in read ? invalid('/validity', read.fault) : addDuration(givenAt, read.text);
}

function readAnswer(value: unknown): string[] | Fault {
  if (!Array.isArray(value) || value.length > maxOptions)
    return invalid('/answer', `must be a list of at most ${maxOptions} texts`);
  const isAnswer = (text: unknown) => isText(text) && text.length <= maxAnswer * 2;
  if (!value.every(isAnswer))
    return invalid('/answer', 'must be a list of texts without NUL and lone surrogates');
  return value as string[];
}

const notEvidence =
  'must be an object with kind and value; in a table these are the columns evidenceKind and evidenceValue';

function readEvidence(value: unknown): Evidence | Fault {
  if (typeof value !== 'object' || value === null) return invalid('/evidence', notEvidence);
  const { kind, value: proof } = value as { kind?: unknown; value?: unknown };
  if (!kinds.includes(kind as string)) return invalid('/evidence/kind', `must be one of ${kinds.join(', ')}`);
  if (!isText(proof) || proof.length > maxEvidence || proof === '')
    return invalid(
      '/evidence/value',
      `must be a text of 1 to ${maxEvidence.toLocaleString('en')} characters`,
    );
  if (kind === 'HASH' && !/^[\da-f]{64}$/.test(proof))
    return invalid('/evidence/value', 'must be a SHA-256 in lower-case hexadecimal digits');
  const url = kind === 'URL' ? parseHttpUrl({ value: proof, pointer: '/evidence/value' }) : proof;
  return isFault(url) ? url : { kind: kind as Evidence['kind'], value: proof };
}
