import type { Handler } from '#lib/http/operation.ts';
import { type ImportedModel, importModel } from '../commands/import-model.ts';
import type { Dependencies } from './dependencies.ts';
import { sendModel } from './send-model.ts';

/** POST /models/import */
export function importModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { body }: { body: ImportedModel }) => {
    await sendModel(ctx, dependencies, await importModel(dependencies, body), 201);
  };
}
