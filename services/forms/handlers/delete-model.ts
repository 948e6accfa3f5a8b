import type { Handler } from '#lib/http/operation.ts';
import { deleteModel } from '../commands/delete-model.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf } from './send-model.ts';

/** DELETE /models/{id} */
export function deleteModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await deleteModel(dependencies, params.id ?? '', ifMatchOf(ctx));
    ctx.status = 204;
  };
}
