import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Temporal } from 'temporal-polyfill';
import type { Fault } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { rememberByText } from '#lib/memo/remember.ts';
import { canStandInPath, hostName } from '#lib/text/host-name.ts';
import { readBoundedText, toNfc } from '#lib/text/nfc.ts';

/** True for a fault, which a parser returns instead of a value. */
export function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'pointer' in value && 'detail' in value;
}

export function invalid(pointer: string, detail: string): Fault {
  return { pointer, code: 'invalid', detail };
}

/** A text in NFC, trimmed, of 1 to `max` characters (code points). */
export function parseText({ value, pointer }: Given, max: number): string | Fault {
  const text = readBoundedText(String(value), max);
  return text || invalid(pointer, `must be a text of 1 to ${max.toLocaleString('en')} characters`);
}

/** The name of a subject: a {@link parseText} that can stand in a path, because paths name subjects. */
export function parseSubject(given: Given): string | Fault {
  const name = parseText(given, 1024);
  if (isFault(name) || canStandInPath(name)) return name;
  return invalid(given.pointer, 'must not be . or .., nor have them between slashes: no path could name it');
}

/** Normalises an identifier such as a subject, before it is compared exactly. */
export function normaliseText(text: string): string {
  return toNfc(text).trim();
}

/** A BCP 47 tag in its canonical form. */
export function parseLanguage({ value, pointer }: Given): string | Fault {
  const tag = canonicalLanguageTag(String(value));
  return tag ?? invalid(pointer, 'must be a BCP 47 language tag such as en or fr-CA');
}

/** An http(s) URL without credentials. Pages link and redirect to it, so `javascript:` is refused. */
export function parseHttpUrl({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const isAllowed =
    url &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= 2048;
  return isAllowed ? url.href : invalid(pointer, 'must be an http or https URL without credentials');
}

/** A web origin as the WHATWG URL parser serialises it. */
export function parseOrigin({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const bare = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (bare && hostName.test(url.hostname) && url.pathname === '/' && url.search === '' && url.hash === '')
    return url.origin;
  return invalid(pointer, 'must be an origin such as https://www.example.org');
}

/** Longest `validity` of answers. */
export const longestValidity = 'P100Y';

/** The canonical form, which PostgreSQL reads too, or the fault. */
export type DurationResult = { text: string } | { fault: string };

/**
 * Parses an ISO 8601 duration. Other spellings of ISO 8601-2 (`+P1D`, `p1d`, `PT0,5S`) become canonical.
 * @param max the longest allowed, ISO 8601.
 */
export function readDuration(text: string, max: string): DurationResult {
  return text.length > maxLength ? { fault: notADuration } : read(`${max} ${text}`);
}

/** Twice the length of the longest duration with a unit of each kind and nanoseconds. */
const maxLength = 100;

const notADuration = 'must be an ISO 8601 duration such as P6M or PT1H';

const read = rememberByText((limited): DurationResult => {
  const space = limited.indexOf(' ');
  const [max, text] = [limited.slice(0, space), limited.slice(space + 1)];
  let duration: Temporal.Duration;
  try {
    duration = Temporal.Duration.from(text);
  } catch {
    return { fault: notADuration };
  }
  if (duration.sign <= 0) return { fault: 'must be longer than zero' };
  if (isLonger(duration, Temporal.Duration.from(max))) return { fault: `must be at most ${max}` };
  return { text: duration.toString() };
});

/** First days of all months of four years, in which months and years are of every length. */
const starts = Array.from({ length: 48 }, (_, months) =>
  Temporal.PlainDate.from('2001-01-01').add({ months }),
);

/** Whether a duration is longer than another on some day, so that it is valid on every day or on none. */
function isLonger(duration: Temporal.Duration, max: Temporal.Duration): boolean {
  try {
    return starts.some((relativeTo) => Temporal.Duration.compare(duration, max, { relativeTo }) > 0);
  } catch {
    // The duration ends after the last day that Temporal can represent.
    return true;
  }
}

/** Adds a duration on the UTC calendar: 31 August plus P6M is 28 or 29 February. */
export function addDuration(at: Date, duration: string): Date {
  const start = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO('UTC');
  return new Date(start.add(duration).epochMilliseconds);
}

/** The key in `element/<type>/<key>/<serial>`; another text is a key. */
export function keyOf(text: string): string {
  return /^element\/[^/]+\/([^/]+)\/[^/]+$/.exec(text)?.[1] ?? text;
}

/** SHA-256 over the canonical JSON (RFC 8785) of a value. Members that are undefined are left out. */
export function sha256Canonical(value: unknown): Buffer {
  return hash('sha256', canonicalize(value) as string, 'buffer');
}

/** A value of a context and where it was given. */
export interface Given {
  value: unknown;
  pointer: string;
}
