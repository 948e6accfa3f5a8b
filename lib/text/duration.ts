import { Temporal } from 'temporal-polyfill';
import { rememberByText } from '#lib/memo/remember.ts';

/** Longest `validity` of a context. */
export const longestValidity = 'P100Y';

/** Longest `validity` of an element. */
export const longestOwnValidity = 'P50Y';

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
  return new Date(Number(endOf(`${at.getTime()} ${duration}`)));
}

/** The answers of a form are given at the same time, and most hold equally long. */
const endOf = rememberByText((text): string => {
  const [at = '', duration = ''] = text.split(' ');
  const start = Temporal.Instant.fromEpochMilliseconds(Number(at)).toZonedDateTimeISO('UTC');
  return String(start.add(duration).epochMilliseconds);
});
