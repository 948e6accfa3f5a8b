import type { Handler } from '#lib/http/operation.ts';
import { type UpdateModelInput, updateModelFields } from '../commands/update-model.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf, sendModel } from './send-model.ts';

/** PUT /models/{id} */
export function updateModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: UpdateModelInput }) => {
    const entry = await updateModelFields(dependencies, params.id ?? '', body, ifMatchOf(ctx));
    await sendModel(ctx, dependencies, entry);
  };
}
