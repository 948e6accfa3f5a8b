import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail, prefixPointers } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { GivenContent } from '../domain/check-content.ts';
import { defaultKey } from '../domain/identifiers.ts';
import { checkPrecondition, type Entry } from '../domain/model.ts';
import {
  type GivenEntry,
  readEntryFields,
  readNewEntry,
  refuseUnknownPeers,
} from '../domain/read-entry-fields.ts';
import {
  clearDefault,
  insertModel,
  layoutsUsing,
  lockDefault,
  markDeleted,
  nextKeyNumber,
  removeModel,
  touchModel,
  updateModel,
} from '../queries/models.ts';
import { findUnknownPeers } from '../queries/store-peers.ts';
import { archiveActive, deleteDraft, readVersionSummaries } from '../queries/versions.ts';
import { withoutForeignLogos } from './logos.ts';
import { announce, type Dependencies, findAndLockModel, findModelToChange } from './model-access.ts';
import { insertNewDraft } from './versions.ts';

/** Creates an INACTIVE entry. @throws Failure `exists` if the key is taken, `invalid`. */
export async function createModel({ db }: Pick<Dependencies, 'db'>, given: GivenEntry): Promise<Entry> {
  return db.withTransaction(async (tx) => {
    const entry = await insertNewModel(tx, given);
    await recordAction(tx, { action: 'model.created', target: `model/${entry.id}` });
    return entry;
  });
}

/** A concurrent creation may name the generated key; more conflicts than this have another cause. */
const maxAttempts = 5;

/** {@link createModel} within a transaction. */
export async function insertNewModel(tx: Queries, given: GivenEntry): Promise<Entry> {
  const { key: wanted, type, ...fields } = readNewEntry(given);
  refuseUnknownPeers(fields.sharedWith, await findUnknownPeers(tx, fields.sharedWith));
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const key = wanted ?? defaultKey(type, await nextKeyNumber(tx, type));
    const entry = await insertModel(tx, { id: newUuid(), key, type, ...fields });
    if (entry) return entry;
    if (wanted !== undefined) break;
  }
  throw fail('exists', wanted ? `The key ${wanted} is taken.` : 'The generated key is taken; try again.', {
    errors: [{ pointer: '/key', code: 'exists', detail: 'is taken; choose another key' }],
  });
}

/** The members of an export that an import reads. */
export interface ImportedModel extends GivenEntry {
  versions: (GivenContent & { status?: string })[];
}

/**
 * Creates an entry with one draft: the content of the exported ACTIVE version, else of the newest one.
 * Serials and records are not imported.
 * @throws Failure `exists` if the key is taken, `invalid`.
 */
export async function importModel(
  { db }: Dependencies,
  { versions, ...given }: ImportedModel,
): Promise<Entry> {
  const source = versions.find(({ status }) => status === 'ACTIVE') ?? versions[0];
  return db.withTransaction(async (tx) => {
    const entry = await insertNewModel(tx, given);
    await recordAction(tx, { action: 'model.imported', target: `model/${entry.id}` });
    if (!source) return entry;
    const { defaultLanguage } = source;
    const data = entry.type === 'theme' ? await withoutForeignLogos(tx, source.data) : source.data;
    await prefixPointers(`/versions/${versions.indexOf(source)}`, () =>
      insertNewDraft(tx, entry, { defaultLanguage, data }, 'MINOR'),
    );
    return touchModel(tx, entry.id);
  });
}

/** Absent members keep their value. */
export interface UpdateModelInput {
  name?: string;
  description?: string | null;
  shared?: boolean;
  sharedWith?: string[];
  default?: boolean;
}

/**
 * Updates the fields of an entry itself; its content is in versions.
 * @throws Failure `not-found`, `precondition-failed`, `wrong-state`, `invalid`.
 */
export async function updateModelFields(
  { db, source, wake }: Dependencies,
  id: string,
  input: UpdateModelInput,
  ifMatch?: string,
): Promise<Entry> {
  const updated = await db.withTransaction(async (tx) => {
    if (input.default === true) await lockDefault(tx);
    const entry = await findModelToChange(tx, id);
    checkPrecondition(ifMatch, entry.revision);
    return changeFields(tx, source, entry, input);
  });
  wake();
  return updated;
}

/**
 * {@link updateModelFields} within a transaction that has locked the entry, and before it the default if that
 * moves.
 */
export async function changeFields(
  tx: Queries,
  source: string,
  entry: Entry,
  input: UpdateModelInput,
): Promise<Entry> {
  if (input.default === true && entry.type !== 'information')
    throw fail('invalid', 'Only an information model can be the default.', {
      errors: [{ pointer: '/default', code: 'invalid', detail: 'is allowed for information only' }],
    });
  if (input.default === true && !entry.isDefault) await clearDefault(tx);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const fields = readEntryFields({ ...entry, ...given });
  // A peer removed since may stay in the list, so that a client can send back what it has read.
  const added = fields.sharedWith.filter((peer) => !entry.sharedWith.includes(peer));
  refuseUnknownPeers(fields.sharedWith, await findUnknownPeers(tx, added));
  const changed = await updateModel(tx, entry.id, { ...fields, isDefault: input.default ?? entry.isDefault });
  await recordAction(tx, { action: 'model.updated', target: `model/${entry.id}` });
  // Only peers' catalogues depend on these fields (docs/federation.md, "Catalogue").
  if (changed.status === 'ACTIVE' && (concernsPeers(entry) || concernsPeers(changed)))
    await announce(tx, { source, name: 'shared', entry: changed });
  return changed;
}

function concernsPeers({ shared, isDefault }: Entry): boolean {
  return shared || isDefault;
}

/**
 * Deletes an entry: one without answers is removed; one with answers becomes DELETED, so that its records
 * stay readable (docs/interface.md, "Models"). Idempotent for a DELETED entry.
 * @throws Failure `not-found`, `precondition-failed`, `in-use` for the default information and for entries
 * that ACTIVE layouts name.
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
    await announce(tx, { source, name: 'deleted', entry: await removeOrMark(tx, entry) });
    await recordAction(tx, { action: 'model.deleted', target: `model/${id}` });
  });
  wake();
}

async function checkUnused(tx: Queries, entry: Entry): Promise<void> {
  if (entry.isDefault)
    throw fail('in-use', 'This is the default information; make another one the default first.');
  const layouts = await layoutsUsing(tx, entry);
  if (layouts.length > 0)
    throw fail('in-use', `These ACTIVE layouts use the model: ${layouts.join(', ')}.`, {
      members: { layouts },
    });
}

/** @returns the entry in its last state. */
async function removeOrMark(tx: Queries, entry: Entry): Promise<Entry> {
  if (!entry.answered) {
    await removeModel(tx, entry);
    return { ...entry, revision: entry.revision + 1 };
  }
  await archiveActive(tx, entry.id);
  const draft = (await readVersionSummaries(tx, [entry.id])).find(({ status }) => status === 'DRAFT');
  if (draft) await deleteDraft(tx, draft.id);
  return markDeleted(tx, entry.id);
}
