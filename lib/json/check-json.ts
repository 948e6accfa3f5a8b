import { fail } from '#lib/errors/fail.ts';
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

/**
 * Parses untrusted JSON. Counts its values first, because parsing and checking 1 MiB of empty strings takes
 * 160 ms.
 * @throws SyntaxError if it is not JSON, TypeError if it is not UTF-8, TooManyValues.
 */
export function parseForeignJson(bytes: Uint8Array): unknown {
  if (countValues(bytes) > maxValues) throw new TooManyValues(`has more than ${maxValues} values`);
  return JSON.parse(utf8.decode(bytes));
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const [comma, list, object, quote, backslash] = Buffer.from(',[{"\\');

/** Upper bound of the number of values: outside strings, a comma or bracket precedes each. */
function countValues(bytes: Uint8Array): number {
  let values = 1;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) inString = !inString;
    else if (inString) at += byte === backslash ? 1 : 0;
    else if (byte === comma || byte === list || byte === object) values += 1;
  }
  return values;
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

/** Escapes a member name for a JSON pointer (RFC 6901 §3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function malformedAt(pointer: string, what: string) {
  const shown = pointer.toWellFormed().replaceAll('\0', '');
  return fail('malformed', `The request ${what}.`, {
    errors: [{ pointer: shown.slice(0, 500), code: 'malformed', detail: `The value ${what}.` }],
  });
}
