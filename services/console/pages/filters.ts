import { Temporal } from 'temporal-polyfill';
import type { ConsoleReader } from './console-reader.ts';
import { type Choice, languageChoices, wordChoices } from './form.ts';

/** A filter of a list: a parameter of the page's URL. */
export type FilterSpec =
  | { name: string; kind: 'text' | 'date'; label: string }
  /** Set by another form, and kept when the other filters change. */
  | { name: string; kind: 'hidden'; label?: undefined }
  | {
      name: string;
      kind: 'choice';
      label: string;
      options: readonly Choice[];
    };

/** A filter as the mixin `+filters` prints it. */
export interface FilterView {
  name: string;
  id: string;
  kind: FilterSpec['kind'];
  label: string;
  value: string;
  options: { value: string; label: string; selected: boolean }[];
}

/** The filters of a list, as they stand in the URL of the page. */
export interface Filters {
  /** Values by name; only filters that are set. */
  values: Readonly<Record<string, string>>;
  isSet: boolean;
  fields: FilterView[];
  /** The page without filters. */
  clearUrl: string;
}

/**
 * Reads the filters of a page from its query. Unknown values of a choice, and days that do not exist, are
 * ignored.
 */
export function readFilters(
  path: string,
  query: Readonly<Record<string, string | string[] | undefined>>,
  specs: readonly FilterSpec[],
): Filters {
  const values: Record<string, string> = {};
  const fields = specs.map((spec): FilterView => {
    const given = String([query[spec.name] ?? ''].flat()[0]).trim();
    const known =
      spec.kind === 'choice'
        ? spec.options.some(([value]) => value === given)
        : spec.kind !== 'date' || isDay(given);
    const value = known ? given : '';
    if (value !== '') values[spec.name] = value;
    const options =
      spec.kind === 'choice'
        ? spec.options.map(([each, label]) => ({ value: each, label, selected: each === value }))
        : [];
    return {
      name: spec.name,
      id: `filter-${spec.name}`,
      kind: spec.kind,
      label: spec.label ?? '',
      value,
      options,
    };
  });
  return { values, isSet: Object.keys(values).length > 0, fields, clearUrl: path };
}

/**
 * The filters `after` and `before`, which are days, as times in the zone of the instance.
 * @returns the beginning of the first day, and that of the day after the last.
 */
export function timesOfDays(
  { after, before }: Readonly<Record<string, string>>,
  timeZone: string,
): { after?: string; before?: string } {
  const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).toInstant().toString();
  return {
    ...(after && { after: startOf(Temporal.PlainDate.from(after)) }),
    ...(before && { before: startOf(Temporal.PlainDate.from(before).add({ days: 1 })) }),
  };
}

/**
 * The end of a day in the instance's zone, as the API takes it.
 * @returns epoch milliseconds; 0, which the API refuses, for a text that is no day.
 */
export function endOfDay(day: string, timeZone: string): number {
  const { before } = isDay(day) ? timesOfDays({ before: day }, timeZone) : {};
  return before === undefined ? 0 : Date.parse(before);
}

function isDay(text: string): boolean {
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() === text;
  } catch {
    return false;
  }
}

/** Options of a choice for a group of words, such as the states of a transaction, after "All". */
export function choicesOf(reader: ConsoleReader, group: string, codes: readonly string[]) {
  return [['', reader.t('filter.all')] as const, ...wordChoices(reader, group, codes)];
}

/** A filter by the codes of a group of words. @param label key of a message. */
export function choiceFilter(
  reader: ConsoleReader,
  label: string,
  { name, group, codes }: { name: string; group: string; codes: readonly string[] },
): FilterSpec {
  return { name, kind: 'choice', label: reader.t(label), options: choicesOf(reader, group, codes) };
}

/** A filter by the languages that are in use, sorted by name. @param label key of a message. */
export function languageFilter(
  reader: ConsoleReader,
  label: string,
  tags: readonly string[],
  any = reader.t('filter.all'),
): FilterSpec {
  const { compare } = new Intl.Collator(reader.language);
  const named = languageChoices(reader, [...new Set(tags)]);
  const options = [['', any] as const, ...named.toSorted(([, one], [, other]) => compare(one, other))];
  return { name: 'language', kind: 'choice', label: reader.t(label), options };
}

/** A path, which may have a query, with further parameters; empty ones are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((each): each is [string, string] => Boolean(each[1]));
  const search = new URLSearchParams(given);
  return search.size > 0 ? `${path}${path.includes('?') ? '&' : '?'}${search}` : path;
}
