import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Entry, Version } from '../domain/model.ts';
import { lockModel, readModel } from '../queries/models.ts';
import { readVersion } from '../queries/versions.ts';

/** @throws Failure `not-found`. */
export async function findModel(db: Queries, id: string): Promise<Entry> {
  return found(await readModel(db, id), 'model');
}

/** Finds and locks an entry that is to be changed. @throws Failure `not-found`, `wrong-state` for a DELETED one. */
export async function findModelToChange(tx: Queries, id: string): Promise<Entry> {
  const entry = found(await lockModel(tx, id), 'model');
  if (entry.status === 'DELETED')
    throw fail('wrong-state', 'The model has been deleted.', { members: { state: entry.status } });
  return entry;
}

/** @throws Failure `not-found`. */
export async function findVersion(db: Queries, model: string, id: string): Promise<Version> {
  return found(await readVersion(db, model, id), 'version');
}

function found<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw fail('not-found', `There is no such ${what}.`);
  return thing;
}
