import { Temporal } from 'temporal-polyfill';

const dateAndTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[+-]\d\d:\d\d))?$/;

/**
 * Reads a time of RFC 3339 to milliseconds, its seconds optional, or a date as its midnight in UTC. A time
 * needs its zone. Not `new Date(text)`, which takes 30 February for 2 March, and 24:00.
 * @returns undefined for any other text, and for a time that does not exist or is not in the years 1 to 9999.
 */
export function parseTimestamp(text: string): Date | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    dateAndTime.exec(text) ?? [];
  if (year === undefined) return undefined;
  const written = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const local = new Date(written);
  // A day that the month does not have, or hour 24, has become another one.
  if (Number.isNaN(local.getTime()) || local.toISOString() !== written) return undefined;
  const offset = offsetOf(zone);
  if (offset === undefined) return undefined;
  const time = new Date(local.getTime() - offset * 60_000);
  return isWritable(time) ? time : undefined;
}

/** Whether a time has a year of four digits, as RFC 3339 writes it. */
export function isWritable(time: Date): boolean {
  return time.getUTCFullYear() > 0 && time.getUTCFullYear() < 10_000;
}

/** The end of a day in a time zone. @param day RFC 3339, `full-date`. @param timeZone IANA. */
export function endOfDay(day: string, timeZone: string): Date {
  const next = Temporal.PlainDate.from(day).add({ days: 1 });
  return new Date(next.toZonedDateTime(timeZone).epochMilliseconds);
}

/** Minutes east of UTC. */
function offsetOf(zone: string): number | undefined {
  if (/^z$/i.test(zone)) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
