import { newUuid } from '#lib/ids/new-uuid.ts';
import { readWebhook } from '../domain/read-webhook.ts';
import { drawSecret } from '../domain/secret.ts';
import type { Webhook } from '../domain/webhook.ts';
import { insertWebhook } from '../queries/webhooks.ts';
import type { Parts } from './dependencies.ts';

/** Makes a webhook, named after its host unless it has a name. @returns it, and its secret, which is shown this once. @throws Failure `invalid`. */
export async function createWebhook(
  { db, secrets, refuseTarget }: Parts,
  wanted: { name?: string; targetUrl: string; subscribedActions: string[] },
): Promise<{ webhook: Webhook; secret: string }> {
  const { name, targetUrl, subscribedActions } = readWebhook(wanted, await refuseTarget(wanted.targetUrl));
  const id = newUuid();
  const secret = drawSecret();
  const webhook = await insertWebhook(db, {
    ...{ id, targetUrl, subscribedActions },
    name: name ?? new URL(targetUrl).host,
    secret: secrets.seal(id, secret),
  });
  return { webhook, secret };
}
