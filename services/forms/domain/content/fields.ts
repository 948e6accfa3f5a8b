import type { Fault } from '#lib/errors/fail.ts';
import { readDuration } from '#lib/text/duration.ts';
import { boundedNfc } from '#lib/text/nfc.ts';
import { parseTimestamp } from '#lib/text/timestamp.ts';
import { isBlank } from '#lib/text/visible-text.ts';
import { findRichFault } from '../rich-limits.ts';
import { safeUrl, sanitiseMailText, sanitiseRichText } from '../rich-text.ts';

/**
 * Reads one field of content: the value to store, or undefined if it is absent. Faults are added to the list,
 * so that all are reported together.
 * @param at JSON pointer of the value.
 */
export type Field<T = unknown> = (value: unknown, at: string, faults: Fault[]) => T | undefined;

/** What a field reads. */
export type ValueOf<Read extends Field> = NonNullable<ReturnType<Read>>;

/** A {@link Field} that takes long to read: other requests have their turn meanwhile. */
export type SlowField<T = unknown> = (value: unknown, at: string, faults: Fault[]) => Promise<T | undefined>;

/** @returns undefined, the value of a field with a fault. */
export function addFault(faults: Fault[], pointer: string, code: string, detail: string): undefined {
  faults.push({ pointer, code, detail });
}

const maxLine = 500;
const maxText = 20_000;
const maxRich = 100_000;

/** `""` and null count as absent (docs/interface.md, "Terms"). */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function text(most: number, clean: (given: string) => string): Field<string> {
  return (value, at, faults) => {
    const given = readText(value, most, at, faults);
    return given === undefined ? undefined : textToStore(clean(given), most, at, faults);
  };
}

/** A text in NFC, and with one kind of line breaks. */
function readText(value: unknown, most: number, at: string, faults: Fault[]): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string') return addFault(faults, at, 'invalid', 'must be a text');
  const normalised = boundedNfc(value.trim(), most);
  if (normalised === undefined) return addTooLong(most, at, faults);
  return normalised.replaceAll('\r\n', '\n');
}

/** Measured once more, because sanitising writes `&amp;` for `&`. */
function textToStore(text: string, most: number, at: string, faults: Fault[]): string | undefined {
  if (text.length > most && [...text].length > most) return addTooLong(most, at, faults);
  return isBlank(text) ? undefined : text;
}

const addTooLong = (most: number, at: string, faults: Fault[]): undefined =>
  addFault(faults, at, 'too-long', `must have at most ${most} characters`);

/** Plain text on one line. */
export const line = (most = maxLine): Field<string> => text(most, oneLine);

/** White space as it is stored in a text of one line: one space between words. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\t\n\r\v\f ]+/g, ' ').trim();
}

/** Plain text that may have several lines. */
export const lines: Field<string> = text(maxText, (given) => given.trim());

/** HTML, sanitised before it is stored. */
function richText(sanitise: (html: string) => Promise<string>): SlowField<string> {
  return async (value, at, faults) => {
    const fault = typeof value === 'string' && value.length <= maxRich ? findRichFault(value) : undefined;
    if (fault) return addFault(faults, at, fault.code, fault.detail);
    const given = readText(value, maxRich, at, faults);
    if (given === undefined) return undefined;
    const html = (await sanitise(given)).trim();
    // End tags that were left out are written: what is stored must pass when it is read again.
    const tooLong = findRichFault(html);
    if (tooLong) return addFault(faults, at, tooLong.code, tooLong.detail);
    // Lines and empty paragraphs are no text.
    return isBlank(html.replaceAll(/<[^<>]*>/g, '')) ? undefined : textToStore(html, maxRich, at, faults);
  };
}

export const rich = richText(sanitiseRichText);

/** Rich text of a mail. */
export const mailRich = richText(sanitiseMailText);

/** A link that a page may show: http, https or mailto. */
export const url: Field<string> = (value, at, faults) => {
  const given = line(2048)(value, at, faults);
  if (given !== undefined && safeUrl(given) === null)
    addFault(faults, at, 'invalid', 'must be an http, https or mailto URL');
  return given;
};

export const flag: Field<boolean> = (value, at, faults) => {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  return addFault(faults, at, 'invalid', 'must be true or false');
};

/** A day of the calendar (RFC 3339, `full-date`). */
export const day: Field<string> = (value, at, faults) => {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string' && value.length === 10 && parseTimestamp(value)) return value;
  return addFault(faults, at, 'invalid', 'must be a day such as 2026-06-30');
};

export const integer =
  (least: number, most: number): Field<number> =>
  (value, at, faults) => {
    if (isAbsent(value)) return undefined;
    if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    return addFault(faults, at, 'invalid', `must be a whole number from ${least} to ${most}`);
  };

export const oneOf =
  <T extends string>(...allowed: T[]): Field<T> =>
  (value, at, faults) => {
    if (isAbsent(value)) return undefined;
    if (allowed.includes(value as T)) return value as T;
    return addFault(faults, at, 'invalid', `must be one of ${allowed.join(', ')}`);
  };

/** @param most the maximum number of items. Absent and empty lists are equal. */
export const listOf =
  <T>(item: Field<T>, most: number): Field<T[]> =>
  (value, at, faults) => {
    if (isAbsent(value)) return undefined;
    if (!Array.isArray(value)) return addFault(faults, at, 'invalid', 'must be a list');
    if (value.length > most) return addFault(faults, at, 'too-many', `must have at most ${most} items`);
    // A missing item is a fault; in an incomplete draft it keeps its place as an empty text.
    const items = value.map((each, index) => required(item)(each, `${at}/${index}`, faults) ?? '');
    return items.length === 0 ? undefined : (items as T[]);
  };

/** A list whose being empty is a statement of its own, other than its absence. */
export const listThatMayBeEmpty = <T>(item: Field<T>, most: number): Field<T[]> => {
  const read = listOf(item, most);
  return (value, at, faults) => (Array.isArray(value) && value.length === 0 ? [] : read(value, at, faults));
};

/**
 * An ISO 8601 duration, in its canonical form.
 * @param most the longest allowed. @param least the shortest allowed; default: longer than zero.
 */
export const duration =
  (most: string, least?: string): Field<string> =>
  (value, at, faults) => {
    const given = line(100)(value, at, faults);
    const read = given === undefined ? undefined : readDuration(given, most);
    if (!read) return undefined;
    if ('fault' in read) return addFault(faults, at, 'invalid', read.fault);
    const isShort = least !== undefined && 'fault' in readDuration(least, read.text);
    return isShort ? addFault(faults, at, 'invalid', `must be at least ${least}`) : read.text;
  };

/** An object with known members. Unknown members are ignored (docs/interface.md, "The consent context"). */
export const objectOf =
  <Shape extends Record<string, Field>>(
    shape: Shape,
  ): Field<{ [Name in keyof Shape]?: ValueOf<Shape[Name]> }> =>
  (value, at, faults) => {
    const given = readObject(value, at, faults);
    if (given === undefined) return undefined;
    const read = {};
    for (const [name, field] of Object.entries(shape)) {
      const member = field(memberOf(given, name), `${at}/${name}`, faults);
      if (member !== undefined) Object.assign(read, { [name]: member });
    }
    return read;
  };

/** {@link objectOf} with members that take long to read. */
export const slowObjectOf =
  (shape: Record<string, Field | SlowField>): SlowField<Record<string, unknown>> =>
  async (value, at, faults) => {
    const given = readObject(value, at, faults);
    if (given === undefined) return undefined;
    const read: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(shape)) {
      const member = await field(memberOf(given, name), `${at}/${name}`, faults);
      if (member !== undefined) read[name] = member;
    }
    return read;
  };

function readObject(value: unknown, at: string, faults: Fault[]): Record<string, unknown> | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  return addFault(faults, at, 'invalid', 'must be an object');
}

const memberOf = (given: Record<string, unknown>, name: string) =>
  Object.hasOwn(given, name) ? given[name] : undefined;

/** A field that must have a value. */
export function required<T>(field: Field<T>): Field<T> {
  return (value, at, faults) => {
    const before = faults.length;
    const read = field(value, at, faults);
    if (read === undefined && faults.length === before) addFault(faults, at, 'required', 'is required');
    return read;
  };
}

/** {@link required} for a field that takes long to read. */
export function slowRequired<T>(field: Field<T> | SlowField<T>): SlowField<T> {
  return async (value, at, faults) => {
    const before = faults.length;
    const read = await field(value, at, faults);
    if (read === undefined && faults.length === before) addFault(faults, at, 'required', 'is required');
    return read;
  };
}
