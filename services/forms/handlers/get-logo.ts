import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { isEntryId } from '../domain/model-key.ts';
import { readLogo } from '../queries/logos.ts';
import type { Dependencies } from './dependencies.ts';
import { sendFile } from './send-file.ts';

/** GET /assets/logos/{id} */
export function getLogoHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const id = params.id ?? '';
    const logo = isEntryId(id) ? await readLogo(db, id) : undefined;
    if (!logo) throw fail('not-found', 'There is no such image.');
    await sendFile(ctx, { body: logo.body, type: logo.mediaType, immutable: true });
  };
}
