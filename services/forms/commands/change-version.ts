import { fail } from '#lib/errors/fail.ts';
import type { Version, VersionKind, VersionStatus } from '../domain/model.ts';
import { checkPrecondition } from '../domain/precondition.ts';
import { mayMove } from '../domain/version-moves.ts';
import { touchModel } from '../queries/models.ts';
import { archiveActive, deactivateModel, deleteDraft, updateKind } from '../queries/versions.ts';
import { activateVersion } from './activate-version.ts';
import { announce } from './announce.ts';
import type { Dependencies } from './dependencies.ts';
import { findModelToChange, findVersion } from './find.ts';
import { findDraft } from './save-draft.ts';

/** A version within its entry. */
export interface VersionPath {
  model: string;
  version: string;
}

/** Sets a draft MAJOR or MINOR. @throws Failure `not-found`, `precondition-failed`, `wrong-state`. */
export async function setKind(
  { db }: Dependencies,
  { model, version }: VersionPath,
  kind: VersionKind,
  ifMatch?: string,
): Promise<Version> {
  return db.withTransaction(async (tx) => {
    await findModelToChange(tx, model);
    const draft = await findDraft(tx, model, version, ifMatch);
    await touchModel(tx, model);
    return updateKind(tx, draft.id, kind);
  });
}

/** Activates a draft or archives the ACTIVE version. @throws Failure `wrong-state` for every other move. */
export async function setStatus(
  { db, source, wake }: Dependencies,
  { model, version: id }: VersionPath,
  status: VersionStatus,
  ifMatch?: string,
): Promise<Version> {
  const changed = await db.withTransaction(async (tx) => {
    const entry = await findModelToChange(tx, model);
    const version = await findVersion(tx, model, id);
    checkPrecondition(ifMatch, version.revision);
    if (!mayMove(version.status, status))
      throw fail('wrong-state', `A version that is ${version.status} cannot become ${status}.`);
    if (status === 'ACTIVE') return activateVersion(tx, { source }, entry, version);
    await archiveActive(tx, model);
    await announce(tx, { source, name: 'archived', entry: await deactivateModel(tx, model) });
    return findVersion(tx, model, id);
  });
  wake();
  return changed;
}

/** Deletes a draft. @throws Failure `not-found`, `precondition-failed`, `wrong-state`. */
export async function deleteVersion(
  { db }: Dependencies,
  { model, version }: VersionPath,
  ifMatch?: string,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    await findModelToChange(tx, model);
    await deleteDraft(tx, (await findDraft(tx, model, version, ifMatch)).id);
    await touchModel(tx, model);
  });
}
