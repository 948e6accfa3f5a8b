import { LRUCache } from 'lru-cache';
import { scriptOfLanguage } from '#lib/i18n/language-tag.ts';
import { rememberByText } from '#lib/memo/remember.ts';
import type { Catalogue, MessageValues } from '#lib/pages/catalogues.ts';
import { dateText, hourStyle } from '#lib/pages/date-text.ts';
import { ownQuantity } from '#lib/pages/own-units.ts';

/** `lang` and `dir` of a text in another language than the page; empty for the page's language. */
export interface LanguageAttributes {
  lang?: string;
  dir?: 'ltr' | 'rtl';
}

/** Formats messages, dates and numbers in one language, and times in the instance's time zone. */
export interface Reader {
  language: string;
  dir: 'ltr' | 'rtl';
  /** The message of a key. */
  t(key: string, values?: MessageValues): string;
  has(key: string): boolean;
  /** The message `<group>.<code>`, or the code itself if there is none. */
  word(group: string, code: string): string;
  /** `3 May 2025`. */
  date(time: string): string;
  /** `2025-05-03`, a day in no time zone → `3 May 2025`. */
  plainDate(day: string): string;
  /** `3 May 2025, 14:02 UTC`. */
  dateTime(time: string): string;
  /** ISO 8601 `P6M` → `6 months`. */
  duration(duration: string): string;
  /** `a contract, a legal obligation and public interest`. */
  list(texts: readonly string[]): string;
  languageName(tag: string): string;
  /** Attributes of a text in `lang`. */
  in(lang: string): LanguageAttributes;
}

const durationParts =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const durationUnits = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'];

/** @param variant the requested variant of the language, such as `fr-CA`: it determines date formats. */
export function createReader(catalogue: Catalogue, timeZone: string, variant: string): Reader {
  const { language } = catalogue;
  // English without a region has British dates: 3 May 2025.
  const locale = variant === 'en' ? 'en-GB' : variant;
  const dir = textDirection(language);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone });
  const plainDay = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  const minute = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: hourStyle(locale),
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  });
  const list = new Intl.ListFormat(language, { type: 'unit', style: 'long' });
  const conjunction = new Intl.ListFormat(language, { type: 'conjunction' });
  const names = new Intl.DisplayNames(language, { type: 'language', fallback: 'code' });
  return {
    language,
    dir,
    t: (key, values) => catalogue.format(key, dir === 'rtl' && values ? isolate(values) : values),
    has: catalogue.has,
    word: (group, code) => (catalogue.has(`${group}.${code}`) ? catalogue.format(`${group}.${code}`) : code),
    date: timeFormatter(day),
    plainDate: timeFormatter(plainDay),
    dateTime: timeFormatter(minute),
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

/** `quantity('en', 3, 'year')` → `3 years`, with U+00A0. @param unit a unit of Intl.NumberFormat. */
export function quantity(language: string, value: number, unit: string): string {
  const own = ownQuantity(language, value, unit);
  if (own !== undefined) return own;
  const key = `${language} ${unit}`;
  let format = quantityFormats.get(key);
  if (!format) {
    const locale = isLanguageTag(language) ? language : 'en';
    format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
    if (quantityFormats.size < 500) quantityFormats.set(key, format);
  }
  return format.format(value).replaceAll(' ', '\u00a0');
}

const minuteMs = 60_000;

/** Formats times to the minute. Texts are cached: Intl is slow, and many pages show the same minutes. */
function timeFormatter(format: Intl.DateTimeFormat): (time: string) => string {
  const texts = new LRUCache<number, string>({ max: 1_000 });
  return (time) => {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    const minute = Math.floor(date.getTime() / minuteMs);
    const text = texts.get(minute) ?? dateText(format, date);
    texts.set(minute, text);
    return text;
  };
}

/**
 * Wraps values in FSI…PDI (Unicode), so that a Latin name does not change the order of an Arabic sentence.
 */
export function isolate(values: MessageValues): MessageValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? `\u2068${value}\u2069` : value,
    ]),
  );
}

const rightToLeftScripts = new Set('Adlm Arab Hebr Mand Mend Nkoo Rohg Samr Syrc Thaa Yezi'.split(' '));

/** The usual script of a language, such as `Arab`; '' for a text that is not a language tag. */
const scriptOf = rememberByText((language) => scriptOfLanguage(language) ?? '');

/** The direction of a language's usual script: `ar` and `az-Arab` → rtl, `en` and invalid tags → ltr. */
export function textDirection(language: string): 'ltr' | 'rtl' {
  return rightToLeftScripts.has(scriptOf(language)) ? 'rtl' : 'ltr';
}

/** Whether a text is a well-formed language tag, as the attribute `lang` requires. */
export function isLanguageTag(language: string): boolean {
  return scriptOf(language) !== '';
}
