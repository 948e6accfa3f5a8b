import type { Handler } from '#lib/http/operation.ts';
import { findModel } from '../commands/find.ts';
import type { Dependencies } from './dependencies.ts';
import { sendModel } from './send-model.ts';

/** GET /models/{id} */
export function getModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await sendModel(ctx, dependencies, await findModel(dependencies.db, params.id ?? ''));
  };
}
