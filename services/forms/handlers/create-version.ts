import type { Handler } from '#lib/http/operation.ts';
import { createDraft } from '../commands/save-draft.ts';
import type { GivenContent } from '../domain/check-content.ts';
import type { Dependencies } from './dependencies.ts';
import { sendVersion } from './send-model.ts';

/** POST /models/{id}/versions */
export function createVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: GivenContent }) => {
    sendVersion(ctx, dependencies, await createDraft(dependencies, params.id ?? '', body), 201);
  };
}
