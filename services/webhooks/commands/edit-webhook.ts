import { fail } from '#lib/errors/fail.ts';
import { readWebhook, type WebhookInput } from '../domain/read-webhook.ts';
import type { Webhook } from '../domain/webhook.ts';
import { restartDeliveries } from '../queries/deliveries.ts';
import { lockWebhook, updateWebhook } from '../queries/webhooks.ts';
import type { Parts } from './dependencies.ts';

/** Changes a webhook; what waits goes to a new address at once. @throws Failure `not-found`, `invalid`. */
export async function editWebhook(
  { db, refuseTarget, wake }: Parts,
  id: string,
  changes: WebhookInput,
): Promise<Webhook> {
  const refusal = changes.targetUrl === undefined ? undefined : await refuseTarget(changes.targetUrl);
  const { name, targetUrl, subscribedActions } = readWebhook(changes, refusal);
  let isMore = false;
  const changed = await db.withTransaction(async (tx) => {
    const before = await lockWebhook(tx, id);
    if (!before) throw noSuchWebhook();
    const after = await updateWebhook(tx, {
      id,
      name: name ?? before.name,
      targetUrl: targetUrl ?? before.targetUrl,
      subscribedActions: subscribedActions ?? before.subscribedActions,
    });
    isMore = before.targetUrl !== after.targetUrl && (await restartDeliveries(tx, id));
    return after;
  });
  while (isMore) isMore = await restartDeliveries(db, id);
  wake();
  return changed;
}

/** For an id that no webhook has. */
export function noSuchWebhook() {
  return fail('not-found', 'There is no such webhook.');
}
