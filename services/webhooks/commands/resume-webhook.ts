import type { Webhook } from '../domain/webhook.ts';
import { restartDeliveries } from '../queries/deliveries.ts';
import { activateWebhook, findWebhook, lockWebhook } from '../queries/webhooks.ts';
import type { Parts } from './dependencies.ts';
import { noSuchWebhook } from './edit-webhook.ts';

/** Makes a paused webhook ACTIVE; what has waited for it is delivered at once. Of an ACTIVE one nothing changes. @throws Failure `not-found`. */
export async function resumeWebhook({ db, wake }: Parts, id: string): Promise<Webhook> {
  // As long as it is paused nobody attempts anything, so most can be done before it is locked.
  if ((await findWebhook(db, id))?.state === 'PAUSED') while (await restartDeliveries(db, id));
  const webhook = await db.withTransaction(async (tx) => {
    const before = await lockWebhook(tx, id);
    if (!before) throw noSuchWebhook();
    if (before.state === 'ACTIVE') return before;
    await restartDeliveries(tx, id);
    return activateWebhook(tx, id);
  });
  wake();
  return webhook;
}
