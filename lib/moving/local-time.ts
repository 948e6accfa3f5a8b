import { Temporal } from 'temporal-polyfill';
import { rememberByText } from '#lib/memo/remember.ts';

/** How the times of a column are written. */
export interface TimeFormat {
  /** Such as `dd.MM.yyyy HH:mm`; `unix`, `unix-ms`; undefined: ISO 8601. */
  format?: string | undefined;
  /** IANA time zone of times without an offset. */
  zone?: string | undefined;
}

const parts = {
  yyyy: String.raw`(?<year>\d{4})`,
  MM: String.raw`(?<month>\d{2})`,
  M: String.raw`(?<month>\d{1,2})`,
  dd: String.raw`(?<day>\d{2})`,
  d: String.raw`(?<day>\d{1,2})`,
  HH: String.raw`(?<hour>\d{2})`,
  H: String.raw`(?<hour>\d{1,2})`,
  hh: String.raw`(?<hour>\d{1,2})`,
  mm: String.raw`(?<minute>\d{2})`,
  ss: String.raw`(?<second>\d{2})`,
  a: '(?<half>[AaPp][Mm])',
} as const;
const tokens = /yyyy|MM?|dd?|HH?|hh|mm|ss|a/g;

/**
 * Compiles a format.
 * @returns reads a text as an instant in RFC 3339; undefined if it is none, or does not exist, such as 31
 * February.
 */
export function createTimeReader({
  format,
  zone,
}: TimeFormat): (text: string, zone?: string) => string | undefined {
  const read = format === undefined ? readIso : readBy(format);
  return (text, own = zone) => {
    try {
      return read(text.trim(), own || zone);
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return undefined;
      throw error;
    }
  };
}

type Read = (text: string, zone: string | undefined) => string | undefined;

const readIso: Read = (text, zone) => {
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T');
  if (/(?:[Zz]|[+-]\d\d:?\d\d)$/.test(iso) && iso.includes('T')) return Temporal.Instant.from(iso).toString();
  return inZone(Temporal.PlainDateTime.from(iso, { overflow: 'reject' }), zone);
};

function readBy(format: string): Read {
  if (format === 'unix' || format === 'unix-ms') {
    const factor = format === 'unix' ? 1000 : 1;
    return (text) => (/^\d{1,15}$/.test(text) ? new Date(Number(text) * factor).toISOString() : undefined);
  }
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  const pieces: string[] = [];
  let last = 0;
  for (const { 0: token, index } of format.matchAll(tokens)) {
    pieces.push(literal(format.slice(last, index)), parts[token as keyof typeof parts]);
    last = index + token.length;
  }
  const pattern = new RegExp(`^${pieces.join('')}${literal(format.slice(last))}$`);
  return (text, zone) => {
    const found = pattern.exec(text)?.groups;
    if (!found) return undefined;
    const { year, month, day, hour = '0', minute = '0', second = '0', half } = found;
    const hours = half ? (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hour);
    const date = { year: Number(year), month: Number(month), day: Number(day) };
    const time = { hour: hours, minute: Number(minute), second: Number(second) };
    const local = Temporal.PlainDateTime.from({ ...date, ...time }, { overflow: 'reject' });
    return inZone(local, zone);
  };
}

/** A time that a clock shows twice is the first one; one that it skips does not exist. */
function inZone(local: Temporal.PlainDateTime, zone: string | undefined): string | undefined {
  if (!zone) return undefined;
  const zoned = local.toZonedDateTime(zone);
  return zoned.toPlainDateTime().equals(local) ? zoned.toInstant().toString() : undefined;
}

/** Whether a text names a time zone, such as `Europe/Berlin`. */
export function isTimeZone(text: string): boolean {
  return canonicalZone(text) !== '';
}

const canonicalZone = rememberByText((timeZone): string => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return '';
  }
});
