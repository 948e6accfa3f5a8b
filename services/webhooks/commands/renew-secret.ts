import { drawSecret } from '../domain/secret.ts';
import type { Webhook } from '../domain/webhook.ts';
import { replaceSecret } from '../queries/webhooks.ts';
import type { Parts } from './dependencies.ts';
import { noSuchWebhook } from './edit-webhook.ts';

/** For so long messages bear the signatures of both secrets, so that the receiver can change over. */
const overlapHours = 24;

/** Gives a webhook another secret. @returns it, shown this once. @throws Failure `not-found`. */
export async function renewSecret(
  { db, secrets }: Parts,
  id: string,
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = drawSecret();
  const webhook = await replaceSecret(db, { id, secret: secrets.seal(id, secret), overlapHours });
  if (!webhook) throw noSuchWebhook();
  return { webhook, secret };
}
