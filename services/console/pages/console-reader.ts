import type { Reader } from '#lib/pages/reader.ts';

/** A time to print: `<time datetime>` with its text in the instance's zone. */
export interface PrintedTime {
  iso: string;
  text: string;
  /** For tables: without the zone, which the end of the page tells. */
  short: string;
}

/** A reader that also prints numbers, and times for the mixin `+time`. */
export interface ConsoleReader extends Reader {
  /** `4,120`; Arabic in the digits that its readers use. */
  number(value: number): string;
  /** `83 %`. @param share from 0 to 1. */
  percent(share: number): string;
  /** @param time RFC 3339, or epoch milliseconds. */
  time(time: string | number): PrintedTime;
  /** With seconds, in tables too. */
  second(time: string): PrintedTime;
  /** The names of languages, as a list; a dash without any. */
  languageNames(tags: readonly string[]): string;
  /** A day without a time, such as `2025-05-03`. */
  day(date: string): PrintedTime;
}

/**
 * Adds to a reader what the console prints.
 * @param timeZone INSTANCE_TIME_ZONE. @param locale the requested variant, such as `fr-CA`.
 */
export function consoleReader(reader: Reader, timeZone: string, locale: string): ConsoleReader {
  const numbers = new Intl.NumberFormat(locale);
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
  const written = locale === 'en' ? 'en-GB' : locale;
  const days = new Intl.DateTimeFormat(written, { dateStyle: 'medium', timeZone: 'UTC' });
  const minutes = new Intl.DateTimeFormat(written, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const seconds = new Intl.DateTimeFormat(written, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  return {
    ...reader,
    number: (value) => numbers.format(value),
    percent: (share) => shares.format(share),
    languageNames: (tags) => reader.list(tags.map(reader.languageName)) || '–',
    time(time) {
      const iso = new Date(time).toISOString();
      return { iso, text: reader.dateTime(iso), short: minutes.format(new Date(iso)) };
    },
    second(time) {
      const iso = new Date(time).toISOString();
      return { iso, text: reader.dateTime(iso), short: seconds.format(new Date(iso)) };
    },
    day(date) {
      const text = days.format(new Date(`${date}T00:00:00Z`));
      return { iso: date, text, short: text };
    },
  };
}
