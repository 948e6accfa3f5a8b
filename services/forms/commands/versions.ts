import type { AuditAction } from '#lib/audit/actions.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { checkMinor, type GivenContent } from '../domain/check-content.ts';
import { nextSerial } from '../domain/identifiers.ts';
import {
  checkPrecondition,
  type Entry,
  type ModelType,
  mayMove,
  type Version,
  type VersionKind,
  type VersionStatus,
} from '../domain/model.ts';
import { touchModel } from '../queries/models.ts';
import {
  activateDraft,
  archiveActive,
  type DraftContent,
  deactivateModel,
  deleteDraft,
  insertDraft,
  readLastActivated,
  updateDraft,
  updateKind,
} from '../queries/versions.ts';
import { findDraftFaults, findReferenceFaults, readDraft } from './check-draft.ts';
import {
  announce,
  type Dependencies,
  findModelToChange,
  findVersion,
  type VersionPath,
} from './model-access.ts';

/** Content as a client sends it. */
export interface GivenDraft {
  content: GivenContent;
  /** Whether it is stored although something is missing, or unequal between languages. */
  incomplete: boolean;
}

/** A stored draft, and what it lacks. */
export interface SavedDraft {
  version: Version;
  faults: Fault[];
}

/**
 * Adds a draft to an entry.
 * @throws Failure `not-found`, `wrong-state`, `exists` if it has a draft, `invalid`.
 */
export async function createDraft(
  { db }: Dependencies,
  model: string,
  { content: given, incomplete }: GivenDraft,
): Promise<SavedDraft> {
  return db.withTransaction(async (tx) => {
    const entry = await findModelToChange(tx, model);
    const { content, faults } = await readDraft(tx, entry.type, given, incomplete);
    const version = await storeDraft(tx, entry, content, 'MINOR');
    await recordAction(tx, { action: 'version.created', target: `model/${model}` });
    return { version, faults };
  });
}

/**
 * Adds a complete draft to an entry that the transaction has locked.
 * @throws Failure as {@link createDraft}.
 */
export async function insertNewDraft(
  tx: Queries,
  entry: Entry,
  given: GivenContent,
  kind: VersionKind,
): Promise<Version> {
  const { content } = await readDraft(tx, entry.type, given, false);
  return storeDraft(tx, entry, content, kind);
}

async function storeDraft(
  tx: Queries,
  { id: model }: Entry,
  content: DraftContent,
  kind: VersionKind,
): Promise<Version> {
  const version = await insertDraft(tx, { id: newUuid(), model, kind, ...content });
  if (!version) throw fail('exists', 'This model already has a draft; change or delete it.');
  await touchModel(tx, model);
  return version;
}

/** Replaces a draft's content. @throws Failure `invalid`, and those of {@link changeDraft}. */
export function replaceDraft(
  dependencies: Dependencies,
  path: VersionPath,
  { content: given, incomplete }: GivenDraft,
  ifMatch?: string,
): Promise<SavedDraft> {
  return changeDraft(dependencies, path, ifMatch, async (tx, { id }, type) => {
    const { content, faults } = await readDraft(tx, type, given, incomplete);
    return { version: await updateDraft(tx, id, content), faults };
  });
}

/** Sets a draft MAJOR or MINOR, and why. @throws Failure those of {@link changeDraft}. */
export function setKind(
  dependencies: Dependencies,
  path: VersionPath,
  given: Pick<Version, 'kind' | 'reason'>,
  ifMatch?: string,
): Promise<Version> {
  return changeDraft(dependencies, path, ifMatch, (tx, { id }) => updateKind(tx, id, given));
}

/** Deletes a draft. @throws Failure those of {@link changeDraft}. */
export function deleteVersion(
  dependencies: Dependencies,
  path: VersionPath,
  ifMatch?: string,
): Promise<void> {
  return changeDraft(dependencies, path, ifMatch, (tx, { id }) => deleteDraft(tx, id), 'version.deleted');
}

/**
 * Changes a draft while its entry is locked.
 * @throws Failure `not-found`, `precondition-failed`, `wrong-state`.
 */
function changeDraft<T>(
  { db }: Dependencies,
  path: VersionPath,
  ifMatch: string | undefined,
  change: (tx: Queries, draft: Version, type: ModelType) => Promise<T>,
  action: AuditAction = 'version.updated',
): Promise<T> {
  return db.withTransaction(async (tx) => {
    const { type } = await findModelToChange(tx, path.model);
    const draft = await findVersion(tx, path);
    checkPrecondition(ifMatch, draft.revision);
    if (draft.status !== 'DRAFT')
      throw fail('wrong-state', 'An activated version cannot be changed; create a new draft.');
    const changed = await change(tx, draft, type);
    await touchModel(tx, path.model);
    await recordAction(tx, { action, target: `model/${path.model}` });
    return changed;
  });
}

/**
 * Activates a draft or archives the ACTIVE version.
 * @throws Failure `not-found`, `precondition-failed`, `wrong-state` for every other change, and those of
 * {@link activateVersion}.
 */
export async function setStatus(
  { db, source, wake }: Dependencies,
  path: VersionPath,
  status: VersionStatus,
  ifMatch?: string,
): Promise<Version> {
  const changed = await db.withTransaction(async (tx) => {
    const entry = await findModelToChange(tx, path.model);
    const version = await findVersion(tx, path);
    checkPrecondition(ifMatch, version.revision);
    if (!mayMove(version.status, status))
      throw fail('wrong-state', `A version that is ${version.status} cannot become ${status}.`);
    const action = status === 'ACTIVE' ? 'version.activated' : 'version.archived';
    await recordAction(tx, { action, target: `model/${path.model}` });
    if (status === 'ACTIVE') return activateVersion(tx, { source }, entry, version);
    await archiveActive(tx, path.model);
    await announce(tx, { source, name: 'archived', entry: await deactivateModel(tx, path.model) });
    return findVersion(tx, path);
  });
  wake();
  return changed;
}

/**
 * Makes a draft the ACTIVE version of its entry and assigns its serial. The transaction must have locked the
 * entry, so that one of several concurrent activations wins and no serial is assigned twice.
 * @throws Failure `invalid` for an incomplete draft or a MINOR that needs a MAJOR, `unknown-element` or
 * `layout-conflict` for a layout whose references do not resolve.
 */
export async function activateVersion(
  tx: Queries,
  { source }: { source: string },
  entry: Entry,
  draft: Version,
): Promise<Version> {
  const faults = await findDraftFaults(tx, entry.type, draft);
  if (faults.length > 0) throw fail('invalid', 'The draft is not complete.', { errors: faults });
  const former = await readLastActivated(tx, entry.id);
  const kind = former ? draft.kind : 'MAJOR';
  if (former && kind === 'MINOR') {
    const errors = checkMinor(entry.type, former.data, draft.data);
    if (errors.length > 0) throw fail('invalid', 'This change needs a MAJOR version.', { errors });
  }
  if (entry.type === 'layout') await requireReferences(tx, draft);
  await archiveActive(tx, entry.id);
  const serial = nextSerial({ major: entry.lastMajor, minor: entry.lastMinor }, kind);
  const activated = await activateDraft(tx, draft, serial);
  await announce(tx, { source, name: 'activated', entry: activated.entry, serial });
  return activated.version;
}

async function requireReferences(tx: Queries, draft: Version): Promise<void> {
  const errors = await findReferenceFaults(tx, draft);
  if (errors.length === 0) return;
  const conflict = errors.every(({ code }) => code === 'layout-conflict');
  throw fail(conflict ? 'layout-conflict' : 'unknown-element', 'The layout cannot be activated.', { errors });
}
