import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { readLogoImage } from '../domain/logo-image.ts';
import { insertLogo } from '../queries/logos.ts';
import type { Dependencies } from './dependencies.ts';
import { findModelToChange } from './find.ts';

/**
 * Keeps an image for the content of a theme. @returns its path at our own origin.
 * @throws Failure `not-found`, `wrong-state`, `invalid` if the entry is no theme or the bytes are no PNG, JPEG or WebP.
 */
export async function uploadLogo(
  { db }: Pick<Dependencies, 'db'>,
  model: string,
  body: Buffer,
): Promise<string> {
  const image = readLogoImage(body);
  return db.withTransaction(async (tx) => {
    const { type } = await findModelToChange(tx, model);
    if (type !== 'theme') throw fail('invalid', 'Only a theme has a logo.');
    if (!image)
      throw fail('invalid', 'The image must be a PNG, JPEG or WebP of at most 4,096 by 4,096 pixels.');
    const id = newUuid();
    await insertLogo(tx, { id, mediaType: image.mediaType, body });
    return `/assets/logos/${id}`;
  });
}
