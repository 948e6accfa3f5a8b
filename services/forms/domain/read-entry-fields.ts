import { type Fault, fail } from '#lib/errors/fail.ts';
import { flag, line, lines, listOf, required } from './content/fields.ts';
import { isModelKey } from './identifiers.ts';
import { isModelType, type ModelType, modelTypes } from './model.ts';

/** The editable fields of an entry. */
export interface EntryFields {
  name: string;
  description: string | null;
  shared: boolean;
  sharedWith: string[];
}

export type GivenEntry = { [Field in 'type' | 'key' | keyof EntryFields]?: unknown };

/** @throws Failure `invalid` with every fault. */
export function readEntryFields(given: GivenEntry): EntryFields {
  const faults: Fault[] = [];
  const fields = readFields(given, faults);
  if (faults.length > 0) throw fail('invalid', 'The model is not valid.', { errors: faults });
  return fields;
}

/** Reads a new entry; an empty key counts as absent. @throws Failure `invalid` with every fault. */
export function readNewEntry(given: GivenEntry): EntryFields & { type: ModelType; key: string | undefined } {
  const faults: Fault[] = [];
  const { type } = given;
  const key = given.key === undefined || given.key === '' ? undefined : String(given.key);
  if (!isModelType(type))
    faults.push({ pointer: '/type', code: 'invalid', detail: `must be one of ${modelTypes.join(', ')}` });
  if (key !== undefined && !isModelKey(key))
    faults.push({
      pointer: '/key',
      code: 'invalid',
      detail: 'must be 2 to 255 letters, digits, dots, dashes and underscores',
    });
  const fields = readFields(given, faults);
  if (faults.length > 0) throw fail('invalid', 'The model is not valid.', { errors: faults });
  return { ...fields, key, type: type as ModelType };
}

/** @throws Failure `invalid` with a pointer to each unknown peer in `sharedWith`. */
export function refuseUnknownPeers(sharedWith: readonly string[], unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const errors = sharedWith.flatMap((id, index) =>
    unknown.includes(id)
      ? [
          {
            pointer: `/sharedWith/${index}`,
            code: 'unknown-peer',
            detail: 'is not the id of a peer (see GET /peers)',
          },
        ]
      : [],
  );
  throw fail('invalid', 'The model is not valid.', { errors });
}

function readFields(given: GivenEntry, faults: Fault[]): EntryFields {
  return {
    name: required(line(255))(given.name, '/name', faults) ?? '',
    description: lines(given.description, '/description', faults) ?? null,
    shared: flag(given.shared, '/shared', faults) ?? false,
    sharedWith: listOf(line(255), 1_000)(given.sharedWith, '/sharedWith', faults) ?? [],
  };
}
