import type { Handler } from '#lib/http/operation.ts';
import { deleteVersion } from '../commands/change-version.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf } from './send-model.ts';

/** DELETE /models/{id}/versions/{vid} */
export function deleteVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await deleteVersion(dependencies, { model: params.id ?? '', version: params.vid ?? '' }, ifMatchOf(ctx));
    ctx.status = 204;
  };
}
