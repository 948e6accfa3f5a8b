import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Entry } from '../domain/model.ts';
import { defaultKey } from '../domain/model-key.ts';
import { type GivenEntry, readNewEntry, refuseUnknownPeers } from '../domain/read-entry-fields.ts';
import { findUnknownPeers } from '../queries/known-peers.ts';
import { insertModel, nextKeyNumber } from '../queries/models.ts';
import type { Dependencies } from './dependencies.ts';

/** Makes an INACTIVE entry. @throws Failure `exists` if the key is taken, `invalid` (also for unknown peers in `sharedWith`). */
export async function createModel({ db }: Pick<Dependencies, 'db'>, given: GivenEntry): Promise<Entry> {
  return db.withTransaction((tx) => insertNewModel(tx, given));
}

/** A key that somebody takes by name at the moment when it is found free; after so many, there is something else wrong. */
const maxTries = 5;

/** {@link createModel} within a transaction. */
export async function insertNewModel(tx: Queries, given: GivenEntry): Promise<Entry> {
  const { key: wanted, type, ...fields } = readNewEntry(given);
  refuseUnknownPeers(fields.sharedWith, await findUnknownPeers(tx, fields.sharedWith));
  for (let tries = 0; tries < maxTries; tries += 1) {
    const key = wanted ?? defaultKey(type, await nextKeyNumber(tx, type));
    const entry = await insertModel(tx, { id: newUuid(), key, type, ...fields });
    if (entry) return entry;
    if (wanted !== undefined) break;
  }
  throw fail('exists', `There is already a model with the key ${wanted ?? 'that would be next'}.`, {
    errors: [{ pointer: '/key', code: 'exists', detail: 'is taken: give another one' }],
  });
}
