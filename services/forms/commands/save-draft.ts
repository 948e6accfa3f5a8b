import type { Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { checkContent, type GivenContent } from '../domain/check-content.ts';
import { logoIdOf } from '../domain/content/theme.ts';
import { layoutUses } from '../domain/layout-uses.ts';
import type { Entry, ModelType, Version, VersionData, VersionKind } from '../domain/model.ts';
import { checkPrecondition } from '../domain/precondition.ts';
import { existingLogos } from '../queries/logos.ts';
import { touchModel } from '../queries/models.ts';
import { type DraftContent, insertDraft, updateDraft } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';
import { findModelToChange, findVersion } from './find.ts';

type Deps = Pick<Dependencies, 'db'>;

/** Adds a draft to an entry. @throws Failure `not-found`, `exists` if there is one, `invalid` with every fault. */
export async function createDraft({ db }: Deps, model: string, given: GivenContent): Promise<Version> {
  return db.withTransaction(async (tx) => {
    const entry = await findModelToChange(tx, model);
    return insertNewDraft(tx, entry, given, 'MINOR');
  });
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
  if (!version) throw fail('exists', 'This model has a draft already: change or delete that one.');
  await touchModel(tx, model);
  return version;
}

/** Replaces a draft's content. @throws Failure `not-found`, `precondition-failed`, `wrong-state`, `invalid`. */
export async function replaceDraft(
  { db }: Deps,
  { model, version: id }: { model: string; version: string },
  given: GivenContent,
  ifMatch?: string,
): Promise<Version> {
  return db.withTransaction(async (tx) => {
    const entry = await findModelToChange(tx, model);
    const version = await findDraft(tx, model, id, ifMatch);
    const replaced = await updateDraft(tx, version.id, await readContent(tx, entry.type, given));
    await touchModel(tx, model);
    return replaced;
  });
}

/** A version that may still change. @throws Failure `not-found`, `precondition-failed`, `wrong-state`. */
export async function findDraft(tx: Queries, model: string, id: string, ifMatch?: string): Promise<Version> {
  const version = await findVersion(tx, model, id);
  checkPrecondition(ifMatch, version.revision);
  if (version.status !== 'DRAFT')
    throw fail('wrong-state', 'An activated version never changes again: make a new draft.');
  return version;
}

async function readContent(tx: Queries, type: ModelType, given: GivenContent): Promise<DraftContent> {
  const { data, faults } = await checkContent(type, given);
  if (type === 'theme') faults.push(...(await missingLogos(tx, data)));
  if (faults.length > 0) throw fail('invalid', 'The content is not valid.', { errors: faults });
  return { defaultLanguage: given.defaultLanguage, data, uses: layoutUses(type, data) };
}

async function missingLogos(tx: Queries, data: VersionData): Promise<Fault[]> {
  const named = Object.entries(data).flatMap(([language, content]) =>
    ['icon', 'logoPath'].flatMap((field) => {
      const id = logoIdOf(String(content[field] ?? ''));
      return id ? [{ id, pointer: `/data/${language}/${field}` }] : [];
    }),
  );
  if (named.length === 0) return [];
  const existing = await existingLogos(
    tx,
    named.map(({ id }) => id),
  );
  return named
    .filter(({ id }) => !existing.has(id))
    .map(({ pointer }) => ({ pointer, code: 'invalid', detail: 'must be the path of an uploaded logo' }));
}
