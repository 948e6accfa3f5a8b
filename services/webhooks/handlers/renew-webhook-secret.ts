import type { Handler } from '#lib/http/operation.ts';
import { renewSecret } from '../commands/renew-secret.ts';
import { presentWebhook } from '../presenters/present-webhook.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** POST /webhooks/{id}/secret: with its answer the new secret is shown for the only time. */
export function renewWebhookSecretHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    const { webhook, secret } = await renewSecret(dependencies, readId(params.id));
    ctx.body = { ...presentWebhook(webhook), secret };
  };
}
