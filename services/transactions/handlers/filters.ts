import { Failure, type Fault, fail } from '#lib/errors/fail.ts';
import { readChoices } from '#lib/http/lists.ts';
import { states } from '../domain/transaction.ts';
import { normaliseText } from '../domain/values.ts';
import type { TransactionFilter } from '../queries/transactions.ts';

type Given = Record<string, unknown>;

/** Reads the filters that lists of transactions share. @throws Failure `invalid` naming each faulty one. */
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
  faults.push({
    pointer: `/${name}`,
    code: 'invalid',
    detail: 'must be a time such as 2026-05-03T10:00:00Z',
  });
  return undefined;
}

/** A text as it is stored: NFC, trimmed; an empty one counts as absent. */
export function readText(value: unknown): string | undefined {
  const text = value === undefined ? '' : normaliseText(String(value));
  return text === '' ? undefined : text;
}

/** Runs `work` on a part of the body, at once or later: pointers of its faults are told from the body's root. */
export function prefixPointers<T>(prefix: string, work: () => T): T {
  const rethrow = (error: unknown): never => {
    throw prefixed(prefix, error);
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(rethrow) as T) : result;
  } catch (error) {
    return rethrow(error);
  }
}

function prefixed(prefix: string, error: unknown): unknown {
  if (!(error instanceof Failure) || !error.errors) return error;
  return new Failure(error.code, error.message, {
    errors: error.errors.map((fault) => ({ ...fault, pointer: `${prefix}${fault.pointer}` })),
    members: error.members,
    headers: error.headers,
    cause: error.cause,
  });
}
