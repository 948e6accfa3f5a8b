import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Entry } from '../domain/model.ts';
import { checkPrecondition } from '../domain/precondition.ts';
import { layoutsUsing, markDeleted, removeModel } from '../queries/models.ts';
import { archiveActive, deleteDraft, readVersionSummaries } from '../queries/versions.ts';
import { announce } from './announce.ts';
import type { Dependencies } from './dependencies.ts';
import { findAndLockModel } from './find.ts';

/**
 * Deletes an entry: one that was never answered is removed, one with answers is archived and becomes DELETED, so that records
 * can still be read (docs/interface.md, "Models"). Deleting a DELETED one again changes nothing.
 * @throws Failure `not-found`, `precondition-failed`, `in-use` for the default information and for what ACTIVE layouts name.
 */
export async function deleteModel(
  { db, source, wake }: Dependencies,
  id: string,
  ifMatch?: string,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    const entry = await findAndLockModel(tx, id);
    checkPrecondition(ifMatch, entry.revision);
    if (entry.status === 'DELETED') return;
    await checkUnused(tx, entry);
    await announce(tx, { source, name: 'deleted', entry: await erase(tx, entry) });
  });
  wake();
}

async function checkUnused(tx: Queries, entry: Entry): Promise<void> {
  if (entry.isDefault)
    throw fail('in-use', 'This is the default information: make another one the default first.');
  const layouts = await layoutsUsing(tx, entry);
  if (layouts.length > 0)
    throw fail('in-use', `These ACTIVE layouts use it: ${layouts.join(', ')}.`, { members: { layouts } });
}

/** @returns the entry as it was last. */
async function erase(tx: Queries, entry: Entry): Promise<Entry> {
  if (!entry.answered) {
    await removeModel(tx, entry);
    return { ...entry, revision: entry.revision + 1 };
  }
  await archiveActive(tx, entry.id);
  const draft = (await readVersionSummaries(tx, [entry.id])).find(({ status }) => status === 'DRAFT');
  if (draft) await deleteDraft(tx, draft.id);
  return markDeleted(tx, entry.id);
}
