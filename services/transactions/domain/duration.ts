import { Temporal } from 'temporal-polyfill';

/** Longest `validity` of answers. */
export const longestValidity = 'P100Y';

/**
 * Checks an ISO 8601 duration that is added on the calendar in UTC (decisions.md §1).
 * @param most the longest allowed, ISO 8601.
 * @returns undefined if it is fine, else what is wrong.
 */
export function durationFault(text: string, most: string): string | undefined {
  let duration: Temporal.Duration;
  try {
    duration = Temporal.Duration.from(text);
  } catch {
    return 'must be an ISO 8601 duration such as P6M or PT1H';
  }
  if (duration.sign <= 0) return 'must be longer than nothing';
  if (isLonger(duration, Temporal.Duration.from(most))) return `must be at most ${most}`;
  return undefined;
}

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
