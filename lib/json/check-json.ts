import { type Failure, fail } from '#lib/errors/fail.ts';
import { boundedPointer, escapePointer } from '#lib/json/pointer.ts';
import { isStreamSafe } from '#lib/text/nfc.ts';

const maxDepth = 16;
/** Values of all levels together: twice as many as the largest content of a model in 50 languages. */
const maxValues = 20_000;

/**
 * @throws Failure `malformed` if PostgreSQL cannot store a text, or if normalising it would take more than
 * linear time.
 */
export function checkText(text: string, pointer: string): void {
  if (!text.isWellFormed()) throw malformedAt(pointer, 'has a lone surrogate');
  if (text.includes('\0')) throw malformedAt(pointer, 'has a NUL character');
  if (!isStreamSafe(text)) throw malformedAt(pointer, 'has more than 30 combining marks in a row');
}

/** Whether a value passes {@link checkJson}. */
export function isStorable(value: unknown): boolean {
  try {
    checkJson(value);
    return true;
  } catch {
    return false;
  }
}

/** Thrown for JSON with too many values. */
export class TooManyValues extends Error {}

/** Thrown for a JSON object that has two members of the same name. */
export class DuplicateMember extends Error {
  /** JSON pointer to the second one. */
  readonly pointer: string;

  constructor(pointer: string) {
    super('has two members of the same name');
    this.pointer = pointer;
  }
}

/**
 * Parses untrusted JSON. Counts its values first, because parsing and checking 1 MiB of empty strings takes
 * 160 ms. Names of members must be unique (RFC 8259 §4): other parsers may keep the first of two values, and
 * a signature would cover both.
 * @throws SyntaxError if it is not JSON, TypeError if it is not UTF-8, TooManyValues, DuplicateMember.
 */
export function parseForeignJson(bytes: Uint8Array): unknown {
  const written = countWritten(bytes);
  if (written.values > maxValues) throw new TooManyValues(`has more than ${maxValues} values`);
  return parseWritten(utf8.decode(bytes), written.members);
}

/**
 * Parses JSON of any size whose names of members must be unique.
 * @throws SyntaxError if it is not JSON, DuplicateMember.
 */
export function parseUniqueJson(text: string): unknown {
  return parseWritten(text, countWritten(Buffer.from(text)).members);
}

function parseWritten(text: string, members: number): unknown {
  const value: unknown = JSON.parse(text);
  // Of members with the same name JSON.parse keeps one.
  if (countMembers(value) !== members) throw new DuplicateMember(findDuplicate(text));
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const [comma, list, object, quote, backslash, colon] = Buffer.from(',[{"\\:');

/**
 * Upper bound of the number of values: outside strings, a comma or bracket precedes each. A colon precedes
 * the value of each member.
 */
function countWritten(bytes: Uint8Array): { values: number; members: number } {
  let values = 1;
  let members = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) inString = !inString;
    else if (inString) at += byte === backslash ? 1 : 0;
    else if (byte === colon) members += 1;
    else if (byte === comma || byte === list || byte === object) values += 1;
  }
  return { values, members };
}

/** The number of members of all objects in a value. */
function countMembers(value: unknown): number {
  let members = 0;
  // No recursion: the depth is not checked yet.
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const values = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) members += values.length;
    for (const each of values) if (typeof each === 'object') waiting.push(each);
  }
  return members;
}

/** What encloses a place in a JSON text. */
interface Enclosing {
  /** Names that were read; undefined in a list. */
  names: Set<string> | undefined;
  /** Pointer token of the value that is read. */
  token: string;
  index: number;
  expectsName: boolean;
}

/** Where a valid JSON text repeats the name of a member, as a JSON pointer. */
function findDuplicate(text: string): string {
  const path: Enclosing[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    const here = path.at(-1);
    if (token === '{' || token === '[') {
      const names = token === '{' ? new Set<string>() : undefined;
      path.push({ names, token: '0', index: 0, expectsName: names !== undefined });
    } else if (token === '}' || token === ']') path.pop();
    else if (token === ',' && here) {
      here.index += 1;
      here.expectsName = here.names !== undefined;
      if (!here.names) here.token = String(here.index);
    } else if (here?.names && here.expectsName) {
      here.token = JSON.parse(token) as string;
      here.expectsName = false;
      if (here.names.has(here.token)) break;
      here.names.add(here.token);
    }
  }
  return path.map((each) => `/${escapePointer(each.token)}`).join('');
}

/**
 * Checks untrusted JSON: at most 16 levels, no prototype keys, and in every text no lone surrogate, no NUL
 * (PostgreSQL's jsonb stores neither) and at most 30 combining marks in a row.
 * @throws Failure `malformed` with a JSON pointer.
 */
export function checkJson(value: unknown, pointer = '', depth = 0): void {
  if (typeof value === 'string') checkText(value, pointer);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) throw malformedAt(pointer, `is nested more than ${maxDepth} levels deep`);
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(key)}`;
    if (key === '__proto__' || key === 'constructor' || key === 'prototype')
      throw malformedAt(at, 'has a name that is not allowed');
    if (!Array.isArray(value)) checkText(key, at);
    checkJson(member, at, depth + 1);
  }
}

/** The failure of a JSON text that is malformed at a place. @param what e.g. `has a NUL character`. */
export function malformedAt(pointer: string, what: string): Failure {
  return fail('malformed', `The request ${what}.`, {
    errors: [{ pointer: boundedPointer(pointer), code: 'malformed', detail: `The value ${what}.` }],
  });
}
