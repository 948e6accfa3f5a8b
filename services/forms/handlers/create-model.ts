import type { Handler } from '#lib/http/operation.ts';
import { createModel } from '../commands/create-model.ts';
import type { GivenEntry } from '../domain/read-entry-fields.ts';
import type { Dependencies } from './dependencies.ts';
import { sendModel } from './send-model.ts';

/** POST /models */
export function createModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { body }: { body: GivenEntry }) => {
    await sendModel(ctx, dependencies, await createModel(dependencies, body), 201);
  };
}
