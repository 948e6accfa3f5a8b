import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Webhook } from '../domain/webhook.ts';

/** A webhook, without its secret. */
export function presentWebhook(webhook: Webhook): components['schemas']['Webhook'] {
  const { id, name, targetUrl, subscribedActions, state, stateSince, failingSince } = webhook;
  const lastError = presentError(webhook);
  return {
    ...{ id, name, targetUrl, state },
    subscribedActions: [...subscribedActions],
    stateSince: stateSince.toISOString(),
    ...(failingSince ? { failingSince: failingSince.toISOString() } : {}),
    ...(lastError ? { lastError } : {}),
    creationDate: webhook.createdAt.getTime(),
    modificationDate: webhook.modifiedAt.getTime(),
  };
}

function presentError({ lastError, lastErrorAt, lastErrorCode }: Webhook) {
  if (lastError === null || lastErrorAt === null) return undefined;
  const statusCode = lastErrorCode === null ? {} : { statusCode: lastErrorCode };
  return { at: lastErrorAt.toISOString(), reason: lastError, ...statusCode };
}
