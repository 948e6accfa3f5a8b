import type { Handler } from '#lib/http/operation.ts';
import { replaceDraft } from '../commands/save-draft.ts';
import type { GivenContent } from '../domain/check-content.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf, sendVersion } from './send-model.ts';

/** PUT /models/{id}/versions/{vid} */
export function updateVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: GivenContent }) => {
    const path = { model: params.id ?? '', version: params.vid ?? '' };
    sendVersion(ctx, dependencies, await replaceDraft(dependencies, path, body, ifMatchOf(ctx)));
  };
}
