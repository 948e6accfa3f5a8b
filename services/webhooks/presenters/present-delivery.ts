import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Delivery } from '../domain/webhook.ts';

/** A delivery: what became of it, and nothing of what the endpoint said. */
export function presentDelivery(delivery: Delivery): components['schemas']['Delivery'] {
  const { id, action, sourceId, status, redelivery, attempts } = delivery;
  const { statusCode, durationMs, error, deliveredAt, nextAttemptAt } = delivery;
  return {
    ...{ id, webhookId: delivery.webhook, action, sourceId, status, redelivery, attempts },
    ...(statusCode === null ? {} : { statusCode }),
    ...(error === null ? {} : { error }),
    // Without an answer the time would tell a closed port from a filtered one.
    ...(durationMs === null || statusCode === null ? {} : { duration: durationMs }),
    createdAt: delivery.createdAt.toISOString(),
    ...(deliveredAt === null ? {} : { deliveredAt: deliveredAt.toISOString() }),
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: nextAttemptAt.toISOString() }),
  };
}
