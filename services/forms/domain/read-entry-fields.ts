import { type Fault, fail } from '#lib/errors/fail.ts';
import { flag, line, lines, listOf, required } from './content/fields.ts';

/** What may be edited of an entry. */
export interface EntryFields {
  name: string;
  description: string | null;
  shared: boolean;
  sharedWith: string[];
}

/** @throws Failure `invalid` with every fault. */
export function readEntryFields(given: {
  name?: unknown;
  description?: unknown;
  shared?: unknown;
  sharedWith?: unknown;
}): EntryFields {
  const faults: Fault[] = [];
  const fields = {
    name: required(line(255))(given.name, '/name', faults) ?? '',
    description: lines(given.description, '/description', faults) ?? null,
    shared: flag(given.shared, '/shared', faults) ?? false,
    sharedWith: listOf(line(255), 1_000)(given.sharedWith, '/sharedWith', faults) ?? [],
  };
  if (faults.length > 0) throw fail('invalid', 'The model is not valid.', { errors: faults });
  return fields;
}
