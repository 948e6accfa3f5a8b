import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { readModelByKey } from '../queries/models.ts';
import type { Dependencies } from './dependencies.ts';
import { sendModel } from './send-model.ts';

/** GET /models/serials/{key} */
export function getModelByKeyHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    const entry = await readModelByKey(dependencies.db, params.key ?? '');
    if (!entry) throw fail('not-found', 'There is no model with this key.');
    await sendModel(ctx, dependencies, entry);
  };
}
