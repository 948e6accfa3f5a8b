import type { Queries } from '#lib/db/database.ts';
import type { GivenContent } from '../domain/check-content.ts';
import { logoIdOf } from '../domain/content/theme.ts';
import type { Entry } from '../domain/model.ts';
import type { GivenEntry } from '../domain/read-entry-fields.ts';
import { existingLogos } from '../queries/logos.ts';
import { touchModel } from '../queries/models.ts';
import { insertNewModel } from './create-model.ts';
import type { Dependencies } from './dependencies.ts';
import { insertNewDraft } from './save-draft.ts';

/** An export, as far as an import reads it. */
export interface ImportedModel extends GivenEntry {
  versions: (GivenContent & { status?: string })[];
}

/**
 * Makes an entry with one draft: the content of the ACTIVE version, else of the newest. Serials and records stay where they were.
 * @throws Failure `exists` if the key is taken, `invalid`.
 */
export async function importModel(
  { db }: Dependencies,
  { versions, ...given }: ImportedModel,
): Promise<Entry> {
  const source = versions.find(({ status }) => status === 'ACTIVE') ?? versions[0];
  return db.withTransaction(async (tx) => {
    const entry = await insertNewModel(tx, given);
    if (!source) return entry;
    const { defaultLanguage, data } = source;
    const content = {
      defaultLanguage,
      data: entry.type === 'theme' ? await withoutForeignLogos(tx, data) : data,
    };
    await insertNewDraft(tx, entry, content, 'MINOR');
    return touchModel(tx, entry.id);
  });
}

/** Images are no part of an export: those that this instance does not have are left out, to be uploaded again. */
async function withoutForeignLogos(
  tx: Queries,
  data: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const idOf = (value: unknown) => (typeof value === 'string' ? logoIdOf(value) : undefined);
  const contents = Object.entries(data) as [string, Record<string, unknown> | null][];
  const named = contents.flatMap(([, content]) => [idOf(content?.icon), idOf(content?.logoPath)]);
  const existing = await existingLogos(
    tx,
    named.filter((id) => id !== undefined),
  );
  const isForeign = (name: string, value: unknown) => {
    const id = name === 'icon' || name === 'logoPath' ? idOf(value) : undefined;
    return id !== undefined && !existing.has(id);
  };
  return Object.fromEntries(
    contents.map(([language, content]) => [
      language,
      content &&
        Object.fromEntries(Object.entries(content).filter(([name, value]) => !isForeign(name, value))),
    ]),
  );
}
