const noBreak = '\u00a0';

/**
 * A date or a time that breaks at the end of a line only between month and year or between date and time:
 * `3 May 2025 at 14:02 CEST` has U+00A0 in `3 May`, `at 14:02` and `02 CEST`; also where Intl has U+202F, at
 * which browsers break.
 */
export function dateText(format: Intl.DateTimeFormat, date: Date): string {
  const parts = format.formatToParts(date);
  return parts
    .map(({ type, value }, index) =>
      type === 'literal'
        ? joint(value, parts[index - 1]?.type, parts[index + 1]?.type)
        : value.replaceAll(' ', noBreak),
    )
    .join('')
    .replaceAll('\u202f', noBreak);
}

type PartType = Intl.DateTimeFormatPartTypes;
const ofDay: readonly (PartType | undefined)[] = ['day', 'month'];

/** What stands between two parts, as Intl has it but for the spaces that are not to break. */
function joint(text: string, before: PartType | undefined, after: PartType | undefined): string {
  const isWhole =
    (ofDay.includes(before) && ofDay.includes(after)) || after === 'dayPeriod' || after === 'timeZoneName';
  // Lithuanian has a semicolon before the time zone, which would end a sentence.
  if (isWhole) return text.replace(/^; $/, noBreak).replaceAll(' ', noBreak);
  // `2025 г. в 14:02`: an abbreviation of a letter belongs to what precedes it, the last word to the time.
  const joined = text.replace(/^ (?=\p{L}\.)/u, noBreak);
  const endsInWord = joined.endsWith(' ') && joined.trimEnd().includes(' ');
  return after === 'hour' && endsInWord ? `${joined.slice(0, -1)}${noBreak}` : joined;
}

/** Whether a language says `2:02 PM`, where `02:02 PM` would be wrong. */
export function hourStyle(language: string): 'numeric' | '2-digit' {
  const { hour12 } = new Intl.DateTimeFormat(language, { hour: 'numeric' }).resolvedOptions();
  return hour12 ? 'numeric' : '2-digit';
}
