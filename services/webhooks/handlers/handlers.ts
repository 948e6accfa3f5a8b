import type { Handlers } from '#lib/http/operation.ts';
import { createWebhookHandler } from './create-webhook.ts';
import { deleteWebhookHandler } from './delete-webhook.ts';
import type { Dependencies } from './dependencies.ts';
import { getWebhookHandler } from './get-webhook.ts';
import { listDeliveriesHandler } from './list-deliveries.ts';
import { listWebhooksHandler } from './list-webhooks.ts';
import { redeliverHandler } from './redeliver.ts';
import { renewWebhookSecretHandler } from './renew-webhook-secret.ts';
import { resumeWebhookHandler } from './resume-webhook.ts';
import { updateWebhookHandler } from './update-webhook.ts';

/** The service's handlers by operationId (openapi.yaml, tag webhooks). */
export function createHandlers(dependencies: Dependencies): Handlers {
  return {
    listWebhooks: listWebhooksHandler(dependencies),
    createWebhook: createWebhookHandler(dependencies),
    getWebhook: getWebhookHandler(dependencies),
    updateWebhook: updateWebhookHandler(dependencies),
    deleteWebhook: deleteWebhookHandler(dependencies),
    renewWebhookSecret: renewWebhookSecretHandler(dependencies),
    resumeWebhook: resumeWebhookHandler(dependencies),
    listDeliveries: listDeliveriesHandler(dependencies),
    repeatDelivery: redeliverHandler(dependencies),
  };
}
