import type { Handler } from '#lib/http/operation.ts';
import { resumeWebhook } from '../commands/resume-webhook.ts';
import { presentWebhook } from '../presenters/present-webhook.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** POST /webhooks/{id}/resume */
export function resumeWebhookHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    ctx.body = presentWebhook(await resumeWebhook(dependencies, readId(params.id)));
  };
}
