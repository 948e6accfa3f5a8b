import { LRUCache } from 'lru-cache';
import { rememberByText } from '#lib/memo/remember-by-text.ts';
import type { Catalogue, MessageValues } from './catalogues.ts';
import { isLanguageTag, textDirection } from './text-direction.ts';

/** `lang` and `dir` for a block whose language is not the page's; empty where it is. */
export interface LanguageAttributes {
  lang?: string;
  dir?: 'ltr' | 'rtl';
}

/** How one reader gets a page: words, dates and numbers in a language, times in the instance's zone. */
export interface Reader {
  language: string;
  dir: 'ltr' | 'rtl';
  t(key: string, values?: MessageValues): string;
  has(key: string): boolean;
  /** `3 May 2025`. */
  date(time: string): string;
  /** `3 May 2025, 14:02 UTC`. */
  dateTime(time: string): string;
  /** ISO 8601 `P6M` → `6 months`. */
  duration(duration: string): string;
  /** `a contract, a legal obligation and public interest`. */
  list(texts: readonly string[]): string;
  languageName(tag: string): string;
  /** Attributes for a text in `lang`. */
  in(lang: string): LanguageAttributes;
}

const durationParts =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const durationUnits = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'];

/** @param region the language asked for where it is a variant of the catalogue's (`fr-CA`): dates follow it, words do not. */
export function createReader(
  catalogue: Catalogue,
  timeZone: string,
  region: string = catalogue.language,
): Reader {
  const { language } = catalogue;
  // English without a region is not American English: 3 May 2025.
  const locale = region === 'en' ? 'en-GB' : region;
  const dir = textDirection(language);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone });
  const minute = new Intl.DateTimeFormat(locale, {
    ...{
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    },
    timeZone,
  });
  const list = new Intl.ListFormat(language, { type: 'unit', style: 'long' });
  const conjunction = new Intl.ListFormat(language, { type: 'conjunction' });
  const names = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  return {
    language,
    dir,
    t: (key, values) => catalogue.format(key, dir === 'rtl' ? isolated(values) : values),
    has: catalogue.has,
    date: timeWriter(day),
    dateTime: timeWriter(minute),
    duration: rememberByText((text) => {
      const match = durationParts.exec(text);
      if (!match) return text;
      const parts = durationUnits.flatMap((unit, index) =>
        match[index + 1] ? [quantity(language, Number(match[index + 1]), unit)] : [],
      );
      return list.format(parts);
    }),
    list: (texts) => conjunction.format(texts),
    languageName: (tag) => (isLanguageTag(tag) ? (names.of(tag) ?? tag) : tag),
    in: (lang) => (lang === language || !isLanguageTag(lang) ? {} : { lang, dir: textDirection(lang) }),
  };
}

const quantityFormats = new Map<string, Intl.NumberFormat>();

/** `quantity('en', 3, 'year')` → `3 years`. @param unit a unit of Intl.NumberFormat. */
export function quantity(language: string, value: number, unit: string): string {
  const key = `${language} ${unit}`;
  let format = quantityFormats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(isLanguageTag(language) ? language : 'en', {
      style: 'unit',
      unit,
      unitDisplay: 'long',
    });
    if (quantityFormats.size < 500) quantityFormats.set(key, format);
  }
  return format.format(value);
}

const minuteMs = 60_000;

/** Writes times. Intl takes its time, and many pages show the same minutes: no format here tells more. */
function timeWriter(format: Intl.DateTimeFormat): (time: string) => string {
  const known = new LRUCache<number, string>({ max: 1_000 });
  return (time) => {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    const minute = Math.floor(date.getTime() / minuteMs);
    let text = known.get(minute);
    if (text === undefined) {
      text = format.format(date);
      known.set(minute, text);
    }
    return text;
  };
}

/** A Latin name inside an Arabic sentence keeps its own order, and the sentence keeps its own (Unicode FSI…PDI). */
function isolated(values: MessageValues | undefined): MessageValues | undefined {
  if (!values) return undefined;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? `\u2068${value}\u2069` : value,
    ]),
  );
}
