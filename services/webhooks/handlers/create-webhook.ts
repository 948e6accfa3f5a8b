import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { createWebhook } from '../commands/create-webhook.ts';
import { presentWebhook } from '../presenters/present-webhook.ts';
import type { Dependencies } from './dependencies.ts';

/** POST /webhooks: with its answer the secret is shown for the only time. */
export function createWebhookHandler(dependencies: Dependencies) {
  return async (ctx: Context, { body }: OperationInput<components['schemas']['NewWebhook']>) => {
    const { webhook, secret } = await createWebhook(dependencies, body);
    ctx.status = 201;
    ctx.set('Location', `${dependencies.baseUrl}/webhooks/${webhook.id}`);
    ctx.body = { ...presentWebhook(webhook), secret };
  };
}
