import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { editWebhook } from '../commands/edit-webhook.ts';
import { presentWebhook } from '../presenters/present-webhook.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** PUT /webhooks/{id} */
export function updateWebhookHandler(dependencies: Dependencies) {
  return async (ctx: Context, { params, body }: OperationInput<components['schemas']['WebhookChanges']>) => {
    ctx.body = presentWebhook(await editWebhook(dependencies, readId(params.id), body));
  };
}
