import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { checkContent, checkMinor, type GivenContent } from '../domain/check-content.ts';
import { type LayoutContent, layoutUses } from '../domain/content/layout.ts';
import { nextSerial, parseReference } from '../domain/identifiers.ts';
import {
  checkPrecondition,
  type Entry,
  type ModelType,
  mayMove,
  type Version,
  type VersionKind,
  type VersionStatus,
} from '../domain/model.ts';
import { namedByPeer, resolveLayout } from '../domain/resolve-layout.ts';
import { lockNamed, touchModel } from '../queries/models.ts';
import { readPeerRows } from '../queries/read-peers.ts';
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
import { findMissingLogos } from './logos.ts';
import {
  announce,
  type Dependencies,
  findModelToChange,
  findVersion,
  type VersionPath,
} from './model-access.ts';

/**
 * Adds a draft to an entry.
 * @throws Failure `not-found`, `wrong-state`, `exists` if it has a draft, `invalid`.
 */
export async function createDraft(
  { db }: Dependencies,
  model: string,
  given: GivenContent,
): Promise<Version> {
  return db.withTransaction(async (tx) =>
    insertNewDraft(tx, await findModelToChange(tx, model), given, 'MINOR'),
  );
}

/** {@link createDraft} within a transaction that has locked the entry. */
export async function insertNewDraft(
  tx: Queries,
  { id: model, type }: Entry,
  given: GivenContent,
  kind: VersionKind,
): Promise<Version> {
  const content = await readContent(tx, type, given);
  const version = await insertDraft(tx, { id: newUuid(), model, kind, ...content });
  if (!version) throw fail('exists', 'This model already has a draft; change or delete it.');
  await touchModel(tx, model);
  return version;
}

/** Replaces a draft's content. @throws Failure `invalid`, and those of {@link changeDraft}. */
export function replaceDraft(
  dependencies: Dependencies,
  path: VersionPath,
  given: GivenContent,
  ifMatch?: string,
): Promise<Version> {
  return changeDraft(dependencies, path, ifMatch, async (tx, { id }, type) =>
    updateDraft(tx, id, await readContent(tx, type, given)),
  );
}

/** Sets a draft MAJOR or MINOR. @throws Failure those of {@link changeDraft}. */
export function setKind(
  dependencies: Dependencies,
  path: VersionPath,
  kind: VersionKind,
  ifMatch?: string,
): Promise<Version> {
  return changeDraft(dependencies, path, ifMatch, (tx, { id }) => updateKind(tx, id, kind));
}

/** Deletes a draft. @throws Failure those of {@link changeDraft}. */
export function deleteVersion(
  dependencies: Dependencies,
  path: VersionPath,
  ifMatch?: string,
): Promise<void> {
  return changeDraft(dependencies, path, ifMatch, (tx, { id }) => deleteDraft(tx, id));
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
): Promise<T> {
  return db.withTransaction(async (tx) => {
    const { type } = await findModelToChange(tx, path.model);
    const draft = await findVersion(tx, path);
    checkPrecondition(ifMatch, draft.revision);
    if (draft.status !== 'DRAFT')
      throw fail('wrong-state', 'An activated version cannot be changed; create a new draft.');
    const changed = await change(tx, draft, type);
    await touchModel(tx, path.model);
    return changed;
  });
}

async function readContent(tx: Queries, type: ModelType, given: GivenContent): Promise<DraftContent> {
  const { data, faults } = await checkContent(type, given);
  if (type === 'theme') faults.push(...(await findMissingLogos(tx, data)));
  if (faults.length > 0) throw fail('invalid', 'The content is not valid.', { errors: faults });
  return { defaultLanguage: given.defaultLanguage, data, uses: layoutUses(type, data) };
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
 * @throws Failure `invalid` for a MINOR that needs a MAJOR, `unknown-element` or `layout-conflict` for a
 * layout whose references do not resolve.
 */
export async function activateVersion(
  tx: Queries,
  { source }: { source: string },
  entry: Entry,
  draft: Version,
): Promise<Version> {
  const former = await readLastActivated(tx, entry.id);
  const kind = former ? draft.kind : 'MAJOR';
  if (former && kind === 'MINOR') {
    const errors = checkMinor(entry.type, former.data, draft.data);
    if (errors.length > 0) throw fail('invalid', 'This change needs a MAJOR version.', { errors });
  }
  if (entry.type === 'layout') await checkReferences(tx, draft);
  await archiveActive(tx, entry.id);
  const serial = nextSerial({ major: entry.lastMajor, minor: entry.lastMinor }, kind);
  const activated = await activateDraft(tx, draft, serial);
  await announce(tx, { source, name: 'activated', entry: activated.entry, serial });
  return activated.version;
}

/** The entries that a layout names must exist; whether they are ACTIVE is checked when the layout is used. */
async function checkReferences(tx: Queries, { data, defaultLanguage }: Version): Promise<void> {
  const content = data[defaultLanguage] as unknown as LayoutContent;
  const at = `/data/${defaultLanguage}`;
  const pointers = {
    info: `${at}/info`,
    elements: content.elements.map((_, index) => `${at}/elements/${index}`),
  };
  const named = await lockNamed(tx, [...(content.info ? [content.info] : []), ...content.elements]);
  const references = content.elements.flatMap((text) => parseReference(text) ?? []);
  const existing = [
    ...named.map((each) => (each.status === 'DELETED' ? each : { ...each, status: 'ACTIVE' as const })),
    ...(await readPeerRows(tx, references)).map(namedByPeer),
  ];
  // A missing default information is reported when the layout is used: it is not a fault of the layout.
  const errors = resolveLayout(content, existing, pointers).faults.filter(({ code }) => code !== 'required');
  if (errors.length === 0) return;
  const conflict = errors.every(({ code }) => code === 'layout-conflict');
  throw fail(conflict ? 'layout-conflict' : 'unknown-element', 'The layout cannot be activated.', { errors });
}
