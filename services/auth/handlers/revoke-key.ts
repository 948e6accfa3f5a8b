import type { Handler } from '#lib/http/operation.ts';
import { revokeKey } from '../commands/revoke-key.ts';
import type { Dependencies } from './dependencies.ts';

/** DELETE /keys/{id} */
export function revokeKeyHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await revokeKey(dependencies, params.id ?? '');
    ctx.status = 204;
  };
}
