import { expect, it } from 'vitest';
import { dateText, hourStyle } from '#lib/pages/date-text.ts';

const time = new Date('2025-11-03T13:02:00Z');

/** With `~` for a space at which no line breaks. */
function written(language: string, style: Intl.DateTimeFormatOptions): string {
  const format = new Intl.DateTimeFormat(language, { ...style, timeZone: 'Europe/Paris' });
  return dateText(format, time).replaceAll('\u00a0', '~');
}

it.each([
  ['bg', '3~ноември 2025~г. в~14:02~ч.~Гринуич+1'],
  ['de', '3.~November 2025 um~14:02~MEZ'],
  ['en-GB', '3~November 2025 at~14:02~CET'],
  ['en-US', 'November~3, 2025 at~2:02~PM~GMT+1'],
  ['es', '3~de~noviembre de 2025 a las~14:02~CET'],
  ['hu', '2025. november~3. 14:02~CET'],
  ['lt', '2025~m. lapkričio~3~d. 14:02~GMT+1'],
  ['lv', '2025. gada 3.~novembris 14:02~CET'],
  ['sl', '3.~november 2025 ob~14:02~GMT~+1'],
  ['uk', '3~листопада 2025~р. о~14:02~GMT+1'],
  ['ar', '3~نوفمبر 2025 في~2:02~م~غرينتش+1'],
])('a time in %s breaks before the year or before the time, and nowhere else', (language, text) => {
  const style = { day: 'numeric', month: 'long', year: 'numeric', minute: '2-digit' } as const;
  expect(written(language, { ...style, hour: hourStyle(language), timeZoneName: 'short' })).toBe(text);
});

it.each([
  ['cs', '3.~listopadu 2025'],
  ['pt', '3~de~novembro de 2025'],
  ['uk', '3~листопада 2025~р.'],
])('a day in %s stays with its month', (language, text) => {
  expect(written(language, { dateStyle: 'long' })).toBe(text);
});

it.each([
  ['el', 'numeric'],
  ['en-US', 'numeric'],
  ['de', '2-digit'],
  ['en-GB', '2-digit'],
])('hours in %s are %s', (language, style) => {
  expect(hourStyle(language)).toBe(style);
});
