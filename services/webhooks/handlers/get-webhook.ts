import type { Handler } from '#lib/http/operation.ts';
import { noSuchWebhook } from '../commands/edit-webhook.ts';
import { presentWebhook } from '../presenters/present-webhook.ts';
import { findWebhook } from '../queries/webhooks.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** GET /webhooks/{id} */
export function getWebhookHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const webhook = await findWebhook(db, readId(params.id));
    if (!webhook) throw noSuchWebhook();
    ctx.body = presentWebhook(webhook);
  };
}
