import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { formatSerial, isEntryId, type Serial } from '../domain/identifiers.ts';
import type { Entry, Version } from '../domain/model.ts';
import { lockModel, readModel } from '../queries/models.ts';
import { readVersion } from '../queries/versions.ts';

/** What commands need. */
export interface Dependencies {
  db: Database;
  /** BASE_URL, the source of events. */
  source: string;
  /** Wakes the outbox relay after a commit. */
  wake: () => void;
}

/** A version within its entry. */
export interface VersionPath {
  model: string;
  version: string;
}

/** @throws Failure `not-found`. */
export async function findModel(db: Queries, id: string): Promise<Entry> {
  return found(isEntryId(id) ? await readModel(db, id) : undefined, 'Model');
}

/** Finds and locks an entry, DELETED or not. @throws Failure `not-found`. */
export async function findAndLockModel(tx: Queries, id: string): Promise<Entry> {
  return found(isEntryId(id) ? await lockModel(tx, id) : undefined, 'Model');
}

/** Finds and locks an entry to change it. @throws Failure `not-found`, `wrong-state` for a DELETED one. */
export async function findModelToChange(tx: Queries, id: string): Promise<Entry> {
  const entry = await findAndLockModel(tx, id);
  if (entry.status === 'DELETED') throw fail('wrong-state', 'The model has been deleted.');
  return entry;
}

/** @throws Failure `not-found`. */
export async function findVersion(db: Queries, { model, version }: VersionPath): Promise<Version> {
  const isId = isEntryId(model) && isEntryId(version);
  return found(isId ? await readVersion(db, model, version) : undefined, 'Version');
}

function found<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw fail('not-found', `${what} not found.`);
  return thing;
}

/**
 * Writes the event of a change (asyncapi.yaml, topic accord.models). `archived`: the entry has no ACTIVE
 * version any more; an activation that replaces a version writes `activated` only. `shared`: the entries
 * that peers may show have changed.
 */
export async function announce(
  tx: Queries,
  change: {
    source: string;
    name: 'activated' | 'archived' | 'deleted' | 'shared';
    entry: Entry;
    serial?: Serial;
  },
): Promise<void> {
  const { source, name, serial } = change;
  const { id, key, type, revision } = change.entry;
  await addToOutbox(tx, 'accord.models', {
    type: `io.accord.model.${name}.v1`,
    source,
    subject: id,
    data: { model: id, key, type, version: revision, ...(serial && { serial: formatSerial(serial) }) },
  });
}
