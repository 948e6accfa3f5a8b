import { type Fault, fail } from '#lib/errors/fail.ts';
import { readChoices, readTime } from '#lib/http/lists.ts';
import { listedKinds, type TransactionFilter } from '../transaction/list-store.ts';
import { states } from '../transaction/transaction.ts';
import { normaliseText } from '../transaction/values.ts';

interface Given {
  subject?: string;
  states?: string[];
  kind?: string;
  after?: string | number;
  before?: string | number;
}

/** Reads the filters of a list of transactions. @throws Failure `invalid` that names each faulty one. */
export function readTransactionFilter(given: Given): TransactionFilter {
  const faults: Fault[] = [];
  const filter: TransactionFilter = {
    subject: readText(given.subject),
    states: readChoices(given.states, 'states', states, faults),
    kind: readChoices(given.kind, 'kind', listedKinds, faults)?.[0],
    after: readTime(given.after, 'after', faults),
    before: readTime(given.before, 'before', faults),
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

/** A normalised text; an empty one counts as absent. */
export function readText(value: string | undefined): string | undefined {
  const text = normaliseText(value ?? '');
  return text === '' ? undefined : text;
}

/** A list parameter; an empty one counts as absent. */
export function listOf(value: readonly string[] | undefined): string[] | undefined {
  const items = value?.filter((item) => item !== '') ?? [];
  return items.length > 0 ? items : undefined;
}

/** A member of a body that a form post has as a list. */
export function firstOf(value: string | readonly string[] | undefined): string | undefined {
  return [value].flat()[0];
}
