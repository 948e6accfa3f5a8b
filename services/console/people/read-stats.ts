import { Temporal } from 'temporal-polyfill';
import type { ApiClient } from '../api/api-client.ts';
import type { Schemas } from '../api/api-types.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { withQuery } from '../pages/filters.ts';

/** What happened on one day. */
export type DayCount = Schemas['Stats']['days'][number];

/** The answers to one element, with the name that people gave it. */
export interface ElementCount {
  key: string;
  name: string;
  accepted: number;
  /** Without withdrawals, which answer nothing. */
  refused: number;
  withdrawn: number;
}

/** Lengths of the period, in days. */
const lengths = [1, 7, 30, 90, 365];
const defaultLength = 30;
/** Elements on the page; the file has up to 200, as many as one call names. */
const shownElements = 12;

/** The length of the period that the page's URL names. */
export function periodOf(days: unknown): number {
  const given = Number(days);
  return lengths.includes(given) ? given : defaultLength;
}

/** Links to the page with each length of the period. */
export function periodLinks(reader: ConsoleReader, path: string, current: number) {
  return lengths.map((days) => ({
    href: withQuery(path, { days: days === defaultLength ? undefined : String(days) }),
    word: days === 1 ? reader.t('home.today') : reader.t('home.lastDays', { days }),
    isCurrent: days === current,
  }));
}

/**
 * Reads what happened since the beginning of a day, so many days ago, in the instance's zone.
 * @param elements keys of those whose answers are counted; none: all.
 */
export async function readDays(api: ApiClient, timeZone: string, length: number, elements: string[] = []) {
  const today = Temporal.Now.zonedDateTimeISO(timeZone).startOfDay();
  const after = today
    .subtract({ days: length - 1 })
    .toInstant()
    .toString();
  const { body } = await api.call('getStats', {
    query: { after, ...(elements.length > 0 && { elements }) },
  });
  return body;
}

/** The elements that were answered most, with their names. */
export async function nameElements(
  api: ApiClient,
  elements: Schemas['Stats']['elements'],
  limit = shownElements,
): Promise<ElementCount[]> {
  const most = [...elements]
    .sort((a, b) => b.accepted + b.refused - (a.accepted + a.refused) || a.key.localeCompare(b.key))
    .slice(0, limit);
  if (most.length === 0) return [];
  const keys = most.map(({ key }) => key);
  const { body } = await api.call('listModels', { query: { keys, size: 200 } });
  const names = new Map(body.values.map(({ key, name }) => [key, name]));
  return most.map(({ key, accepted, refused, withdrawn }) => ({
    key,
    name: names.get(key) ?? key,
    accepted,
    refused: refused - withdrawn,
    withdrawn,
  }));
}
