import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { logoIdOf } from '../domain/content/types.ts';
import { readLogoImage } from '../domain/logo-image.ts';
import type { VersionData } from '../domain/model.ts';
import { existingLogos, insertLogo } from '../queries/theme-files.ts';
import { type Dependencies, findModelToChange } from './model-access.ts';

/**
 * Stores an image for the content of a theme.
 * @returns its path on this instance.
 * @throws Failure `not-found`, `wrong-state`, `invalid` if the entry is not a theme or the bytes are not a
 * PNG, JPEG or WebP image.
 */
export async function uploadLogo(
  { db }: Pick<Dependencies, 'db'>,
  model: string,
  body: Buffer,
): Promise<string> {
  return db.withTransaction(async (tx) => {
    const { type } = await findModelToChange(tx, model);
    if (type !== 'theme') throw fail('invalid', 'Only a theme can have a logo.');
    return storeLogo(tx, body, `model/${model}`);
  });
}

/** Stores an image that the settings can name. @returns its path. @throws Failure `invalid`. */
export async function uploadInstanceLogo({ db }: Pick<Dependencies, 'db'>, body: Buffer): Promise<string> {
  return db.withTransaction((tx) => storeLogo(tx, body, 'setting/logo'));
}

async function storeLogo(tx: Queries, body: Buffer, target: string): Promise<string> {
  const image = readLogoImage(body);
  if (!image)
    throw fail('invalid', 'The image must be a PNG, JPEG or WebP of at most 4,096 by 4,096 pixels.');
  const id = newUuid();
  await insertLogo(tx, { id, mediaType: image.mediaType, body });
  await recordAction(tx, { action: 'logo.uploaded', target });
  return `/assets/logos/${id}`;
}

/** The members of a theme's content that name an image. */
export const logoFields = ['icon', 'logoPath'] as const;

/**
 * Faults for logos that the content of a theme names and this instance does not have.
 * @param coming ids of logos that are stored with the content.
 */
export async function findMissingLogos(
  tx: Queries,
  data: VersionData,
  coming: readonly string[] = [],
): Promise<Fault[]> {
  const named = Object.entries(data).flatMap(([language, content]) =>
    logoFields.flatMap((field) => {
      const id = logoIdIn(content[field]);
      return id ? [{ id, pointer: `/data/${language}/${field}` }] : [];
    }),
  );
  const existing = await existingLogos(
    tx,
    named.map(({ id }) => id),
  );
  return named
    .filter(({ id }) => !existing.has(id) && !coming.includes(id))
    .map(({ pointer }) => ({ pointer, code: 'invalid', detail: 'must be the path of an uploaded logo' }));
}

/** Removes logos that this instance does not have from an imported theme: an export contains no images. */
export async function withoutForeignLogos(
  tx: Queries,
  data: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const contents = Object.entries(data) as [string, Record<string, unknown> | null][];
  const named = contents.flatMap(([, content]) => logoFields.map((field) => logoIdIn(content?.[field])));
  const existing = await existingLogos(
    tx,
    named.filter((id) => id !== undefined),
  );
  const isForeign = (name: string, value: unknown) => {
    const id = (logoFields as readonly string[]).includes(name) ? logoIdIn(value) : undefined;
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

function logoIdIn(value: unknown): string | undefined {
  return typeof value === 'string' ? logoIdOf(value) : undefined;
}
