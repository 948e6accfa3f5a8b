import { fail } from '#lib/errors/fail.ts';
import type { Delivery } from '../domain/webhook.ts';
import { copyDelivery, hastenDelivery } from '../queries/deliveries.ts';
import { lockWebhook } from '../queries/webhooks.ts';
import type { Parts } from './dependencies.ts';
import { noSuchWebhook } from './edit-webhook.ts';

/**
 * Delivers a message once more, as a delivery of its own under the same `webhook-id`; one that still waits is tried at once instead.
 * @throws Failure `not-found`, or `wrong-state` while the webhook is paused.
 */
export async function redeliver(
  { db, wake }: Parts,
  delivery: { webhook: string; id: string },
): Promise<Delivery> {
  const made = await db.withTransaction(async (tx) => {
    const webhook = await lockWebhook(tx, delivery.webhook);
    if (!webhook) throw noSuchWebhook();
    if (webhook.state === 'PAUSED')
      throw fail('wrong-state', 'The webhook is paused. Resume it first.', {
        members: { state: webhook.state },
      });
    return (await hastenDelivery(tx, delivery)) ?? (await copyDelivery(tx, delivery));
  });
  if (!made) throw fail('not-found', 'There is no such delivery.');
  wake();
  return made;
}
