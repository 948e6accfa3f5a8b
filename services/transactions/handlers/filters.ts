import { type Fault, fail } from '#lib/errors/fail.ts';
import { readChoices } from '#lib/http/lists.ts';
import { states } from '../domain/transaction.ts';
import { invalid, normaliseText } from '../domain/values.ts';
import type { TransactionFilter } from '../queries/transactions.ts';

type Given = Record<string, unknown>;

/** Reads the filters of a list of transactions. @throws Failure `invalid` that names each faulty one. */
export function readTransactionFilter(given: Given): TransactionFilter {
  const faults: Fault[] = [];
  const filter: TransactionFilter = {
    subject: readText(given.subject),
    states: readChoices(given.states, 'states', states, faults),
    after: readTime(given.after, 'after', faults),
    before: readTime(given.before, 'before', faults),
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

/** An RFC 3339 time or date, or epoch milliseconds as existing clients send them. */
export function readTime(value: unknown, name: string, faults: Fault[]): Date | undefined {
  if (value === undefined || value === '') return undefined;
  const text = String(value);
  const time = /^\d{1,15}$/.test(text)
    ? new Date(Number(text))
    : new Date(/^\d{4}-\d\d-\d\d([T ]|$)/.test(text) ? text : Number.NaN);
  if (!Number.isNaN(time.getTime()) && time.getUTCFullYear() > 0 && time.getUTCFullYear() < 10_000)
    return time;
  faults.push(invalid(`/${name}`, 'must be a time such as 2026-05-03T10:00:00Z'));
  return undefined;
}

/** A normalised text; an empty one counts as absent. */
export function readText(value: unknown): string | undefined {
  const text = value === undefined ? '' : normaliseText(String(value));
  return text === '' ? undefined : text;
}

/** A list parameter; an empty one counts as absent. */
export function listOf(value: string | string[] | undefined): string[] | undefined {
  const items = [value ?? []].flat().filter((item) => item !== '');
  return items.length > 0 ? items : undefined;
}
