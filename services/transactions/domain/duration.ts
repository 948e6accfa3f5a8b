import { Temporal } from 'temporal-polyfill';
import { rememberByText } from '#lib/memo/remember-by-text.ts';

/** Longest `validity` of answers. */
export const longestValidity = 'P100Y';

/**
 * Checks an ISO 8601 duration that is added on the calendar in UTC (decisions.md §1).
 * @param most the longest allowed, ISO 8601.
 * @returns undefined if it is fine, else what is wrong.
 */
export function durationFault(text: string, most: string): string | undefined {
  return judge(`${most} ${text}`).fault;
}

const judge = rememberByText((limited): { fault?: string } => {
  const space = limited.indexOf(' ');
  const [most, text] = [limited.slice(0, space), limited.slice(space + 1)];
  let duration: Temporal.Duration;
  try {
    duration = Temporal.Duration.from(text);
  } catch {
    return { fault: 'must be an ISO 8601 duration such as P6M or PT1H' };
  }
  if (duration.sign <= 0) return { fault: 'must be longer than nothing' };
  return isLonger(duration, Temporal.Duration.from(most)) ? { fault: `must be at most ${most}` } : {};
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
  const end = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO('UTC').add(duration);
  return new Date(end.epochMilliseconds);
}
