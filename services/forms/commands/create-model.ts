import { v7 as uuid } from 'uuid';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Entry, ModelType } from '../domain/model.ts';
import { defaultKey, isModelKey } from '../domain/model-key.ts';
import { readEntryFields } from '../domain/read-entry-fields.ts';
import { insertModel, nextKeyNumber } from '../queries/models.ts';
import type { Dependencies } from './dependencies.ts';

export interface CreateModelInput {
  type: ModelType;
  name: string;
  key?: string;
  description?: string | null;
  shared?: boolean;
  sharedWith?: string[];
}

/** Makes an INACTIVE entry. @throws Failure `exists` if the key is taken, `invalid`. */
export async function createModel({ db }: Pick<Dependencies, 'db'>, input: CreateModelInput): Promise<Entry> {
  return db.withTransaction((tx) => insertNewModel(tx, input));
}

/** {@link createModel} within a transaction. */
export async function insertNewModel(tx: Queries, input: CreateModelInput): Promise<Entry> {
  const { key: givenKey, type } = input;
  // An empty key counts as absent (decisions.md §1, "Empty").
  const wanted = givenKey || undefined;
  if (wanted !== undefined && !isModelKey(wanted))
    throw fail('invalid', 'The key is not valid.', {
      errors: [
        {
          pointer: '/key',
          code: 'invalid',
          detail: 'must be 2 to 255 letters, digits, dots, dashes and underscores',
        },
      ],
    });
  const fields = readEntryFields(input);
  const key = wanted ?? defaultKey(type, await nextKeyNumber(tx, type));
  const entry = await insertModel(tx, { id: uuid(), key, type, ...fields });
  if (!entry)
    throw fail('exists', `There is already a model with the key ${key}.`, {
      errors: [{ pointer: '/key', code: 'exists', detail: 'is taken' }],
    });
  return entry;
}
