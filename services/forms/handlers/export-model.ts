import type { Handler } from '#lib/http/operation.ts';
import { findModel } from '../commands/find.ts';
import { presentExport } from '../presenters/present-model.ts';
import { readVersions } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /models/{id}/export */
export function exportModelHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const entry = await findModel(db, params.id ?? '');
    ctx.body = presentExport(entry, await readVersions(db, entry.id));
    ctx.attachment(`${entry.key}.json`);
    ctx.type = 'application/json';
  };
}
