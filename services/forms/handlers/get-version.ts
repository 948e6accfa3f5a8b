import type { Handler } from '#lib/http/operation.ts';
import { findVersion } from '../commands/find.ts';
import type { Dependencies } from './dependencies.ts';
import { sendVersion } from './send-model.ts';

/** GET /models/{id}/versions/{vid} */
export function getVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    sendVersion(ctx, dependencies, await findVersion(dependencies.db, params.id ?? '', params.vid ?? ''));
  };
}
