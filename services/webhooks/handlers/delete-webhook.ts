import type { Handler } from '#lib/http/operation.ts';
import { noSuchWebhook } from '../commands/edit-webhook.ts';
import { dropDeliveries } from '../queries/deliveries.ts';
import { deleteWebhook } from '../queries/webhooks.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** DELETE /webhooks/{id}: what waits for it goes with it. */
export function deleteWebhookHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const id = readId(params.id);
    while (await dropDeliveries(db, id));
    if (!(await deleteWebhook(db, id))) throw noSuchWebhook();
    ctx.status = 204;
  };
}
