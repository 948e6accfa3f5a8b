import { uuidPattern } from '#lib/http/cursor.ts';
import type { Parts } from '../commands/dependencies.ts';
import { noSuchWebhook } from '../commands/edit-webhook.ts';

/** What the handlers of this service work with; built in compose.ts. */
export type Dependencies = Parts;

/** @throws Failure `not-found` for what is no id. */
export function readId(id = ''): string {
  if (!uuidPattern.test(id)) throw noSuchWebhook();
  return id;
}
