import { Temporal } from 'temporal-polyfill';
import type { Fault } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { rememberByText } from '#lib/memo/remember.ts';
import { hostName } from '#lib/text/host-name.ts';
import { readBoundedText, toNfc } from '#lib/text/nfc.ts';
import type { Given } from './context.ts';

/** True if a reader found a fault instead of a value. */
export function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'pointer' in value && 'detail' in value;
}

/** A text in NFC, trimmed, of 1 to `most` characters (code points). */
export function parseText({ value, pointer }: Given, most: number): string | Fault {
  const text = readBoundedText(String(value), most);
  return (
    text || {
      pointer,
      code: 'invalid',
      detail: `must be a text of 1 to ${most.toLocaleString('en')} characters`,
    }
  );
}

/** Subjects and other identifying texts are compared exactly after this (docs/interface.md, "Terms"). */
export function normaliseText(text: string): string {
  return toNfc(text).trim();
}

/** A BCP 47 tag in its canonical form. */
export function parseLanguage({ value, pointer }: Given): string | Fault {
  return (
    canonicalLanguageTag(String(value)) ?? {
      pointer,
      code: 'invalid',
      detail: 'must be a BCP 47 language tag such as en or fr-CA',
    }
  );
}

/** An http(s) URL without credentials: it is shown as a link and followed by the page, so never `javascript:`. */
export function parseHttpUrl({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const fine =
    url &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= 2048;
  return fine
    ? url.href
    : { pointer, code: 'invalid', detail: 'must be an http or https URL without credentials' };
}

/** A web origin as the WHATWG URL parser writes it: `https://host:` is `https://host`. */
export function parseOrigin({ value, pointer }: Given): string | Fault {
  const url = URL.parse(String(value));
  const bare = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (bare && hostName.test(url.hostname) && url.pathname === '/' && url.search === '' && url.hash === '')
    return url.origin;
  return { pointer, code: 'invalid', detail: 'must be an origin such as https://www.example.org' };
}

/** Longest `validity` of answers. */
export const longestValidity = 'P100Y';

/** A duration in its canonical form, which PostgreSQL reads too, or what is wrong with it. */
export type DurationResult = { text: string } | { fault: string };

/**
 * Reads an ISO 8601 duration that is added on the calendar in UTC. Other spellings that ISO 8601-2 and Temporal allow
 * (`+P1D`, `p1d`, `PT0,5S`) become the canonical one.
 * @param most the longest allowed, ISO 8601.
 */
export function readDuration(text: string, most: string): DurationResult {
  return text.length > maxLength ? { fault: noDuration } : read(`${most} ${text}`);
}

/** The longest duration that has a unit of each kind and nanoseconds takes half of it. */
const maxLength = 100;
const noDuration = 'must be an ISO 8601 duration such as P6M or PT1H';

const read = rememberByText((limited): DurationResult => {
  const space = limited.indexOf(' ');
  const [most, text] = [limited.slice(0, space), limited.slice(space + 1)];
  let duration: Temporal.Duration;
  try {
    duration = Temporal.Duration.from(text);
  } catch {
    return { fault: noDuration };
  }
  if (duration.sign <= 0) return { fault: 'must be longer than nothing' };
  if (isLonger(duration, Temporal.Duration.from(most))) return { fault: `must be at most ${most}` };
  return { text: duration.toString() };
});

function isLonger(duration: Temporal.Duration, most: Temporal.Duration): boolean {
  // A fixed day makes the comparison of months and days the same on every day.
  const relativeTo = Temporal.PlainDate.from('2001-01-01');
  try {
    return Temporal.Duration.compare(duration, most, { relativeTo }) > 0;
  } catch {
    // It ends beyond the last day that the calendar knows.
    return true;
  }
}

/** Adds a duration on the calendar in UTC: 31 August and P6M make 28 or 29 February. */
export function addDuration(at: Date, duration: string): Date {
  return new Date(add(`${at.getTime()} ${duration}`).epochMilliseconds);
}

/** One flow asks for the same end several times, and the polyfill takes some 40 microseconds for it. */
const add = rememberByText((sum): Temporal.ZonedDateTime => {
  const [at, duration = ''] = sum.split(' ');
  return Temporal.Instant.fromEpochMilliseconds(Number(at)).toZonedDateTimeISO('UTC').add(duration);
});
