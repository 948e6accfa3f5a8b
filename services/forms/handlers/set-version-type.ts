import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { setKind } from '../commands/change-version.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf, sendVersion } from './send-model.ts';

/** PUT /models/{id}/versions/{vid}/type */
export function setVersionTypeHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: { type: string } }) => {
    const { type } = body;
    if (type !== 'MAJOR' && type !== 'MINOR')
      throw fail('invalid', 'The type is not valid.', {
        errors: [{ pointer: '/type', code: 'invalid', detail: 'must be MAJOR or MINOR' }],
      });
    const path = { model: params.id ?? '', version: params.vid ?? '' };
    sendVersion(ctx, dependencies, await setKind(dependencies, path, type, ifMatchOf(ctx)));
  };
}
