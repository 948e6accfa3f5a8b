import type { components } from '#lib/contracts/openapi.gen.ts';
import { failureCode } from '#lib/outbound/failure-code.ts';
import type { Delivery, Webhook } from '../domain/webhook.ts';

type Schemas = components['schemas'];

/** A webhook without its secret. */
export function presentWebhook(webhook: Webhook): Schemas['Webhook'] {
  const { failingSince, lastError, lastErrorAt, lastErrorCode } = webhook;
  return {
    id: webhook.id,
    name: webhook.name,
    targetUrl: webhook.targetUrl,
    state: webhook.state,
    subscribedActions: [...webhook.subscribedActions],
    ...(webhook.recipient === null ? {} : { recipient: webhook.recipient }),
    ...(webhook.elements === null ? {} : { elements: [...webhook.elements] }),
    ...(webhook.acknowledgeWithin === null ? {} : { acknowledgeWithin: webhook.acknowledgeWithin }),
    stateSince: webhook.stateSince.toISOString(),
    ...(failingSince ? { failingSince: failingSince.toISOString() } : {}),
    ...(lastError !== null && lastErrorAt !== null
      ? {
          lastError: {
            at: lastErrorAt.toISOString(),
            reason: lastError,
            code: failureCode(lastError),
            ...(lastErrorCode === null ? {} : { statusCode: lastErrorCode }),
          },
        }
      : {}),
    creationDate: webhook.createdAt.getTime(),
    modificationDate: webhook.modifiedAt.getTime(),
  };
}

/** A delivery and its outcome, without anything that the endpoint sent. */
export function presentDelivery(delivery: Delivery): Schemas['Delivery'] {
  const { statusCode, durationMs, error, deliveredAt, nextAttemptAt } = delivery;
  return {
    id: delivery.id,
    webhookId: delivery.webhook,
    action: delivery.action,
    sourceId: delivery.sourceId,
    status: delivery.status,
    redelivery: delivery.redelivery,
    attempts: delivery.attempts,
    ...(statusCode === null ? {} : { statusCode }),
    ...(error === null ? {} : { error, errorCode: failureCode(error) }),
    // Without a response the duration would distinguish a closed port from a filtered one.
    ...(durationMs === null || statusCode === null ? {} : { duration: durationMs }),
    createdAt: delivery.createdAt.toISOString(),
    ...(deliveredAt === null ? {} : { deliveredAt: deliveredAt.toISOString() }),
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: nextAttemptAt.toISOString() }),
    ...(delivery.acknowledged === null ? {} : { acknowledged: delivery.acknowledged }),
  };
}
