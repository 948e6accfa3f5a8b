import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Entry, Version } from '../domain/model.ts';
import { isEntryId } from '../domain/model-key.ts';
import { lockModel, readModel } from '../queries/models.ts';
import { readVersion } from '../queries/versions.ts';

/** @throws Failure `not-found`. */
export async function findModel(db: Queries, id: string): Promise<Entry> {
  return found(isEntryId(id) ? await readModel(db, id) : undefined, 'model');
}

/** Finds and locks an entry, DELETED or not. @throws Failure `not-found`. */
export async function findAndLockModel(tx: Queries, id: string): Promise<Entry> {
  return found(isEntryId(id) ? await lockModel(tx, id) : undefined, 'model');
}

/** Finds and locks an entry that is to be changed. @throws Failure `not-found`, `wrong-state` for a DELETED one. */
export async function findModelToChange(tx: Queries, id: string): Promise<Entry> {
  const entry = await findAndLockModel(tx, id);
  if (entry.status === 'DELETED') throw fail('wrong-state', 'The model has been deleted.');
  return entry;
}

/** @throws Failure `not-found`. */
export async function findVersion(db: Queries, model: string, id: string): Promise<Version> {
  return found(isEntryId(model) && isEntryId(id) ? await readVersion(db, model, id) : undefined, 'version');
}

function found<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw fail('not-found', `There is no such ${what}.`);
  return thing;
}
