import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { setStatus } from '../commands/change-version.ts';
import { isVersionStatus } from '../domain/model.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf, sendVersion } from './send-model.ts';

/** PUT /models/{id}/versions/{vid}/status */
export function setVersionStatusHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: { status: string } }) => {
    const { status } = body;
    if (!isVersionStatus(status))
      throw fail('invalid', 'The status is not valid.', {
        errors: [{ pointer: '/status', code: 'invalid', detail: 'must be ACTIVE or ARCHIVED' }],
      });
    const path = { model: params.id ?? '', version: params.vid ?? '' };
    sendVersion(ctx, dependencies, await setStatus(dependencies, path, status, ifMatchOf(ctx)));
  };
}
