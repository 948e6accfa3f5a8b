import type { Context } from 'koa';
import type { Database } from '#lib/db/database.ts';
import { Failure, type Fault, fail } from '#lib/errors/fail.ts';
import { type PageRequest, readChoices, sendList, uuidPattern } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import type { Acknowledge } from '../commands/acknowledge-delivery.ts';
import { type WebhookCommands, webhookNotFound } from '../commands/webhooks.ts';
import { readAcknowledgement } from '../domain/acknowledgement.ts';
import { deliveredActions, meaningOf } from '../domain/actions.ts';
import { writeBody } from '../domain/message.ts';
import { type DeliveryFilter, deliveryStatuses } from '../domain/webhook.ts';
import { presentDelivery, presentWebhook } from '../presenters/webhooks.ts';
import { findDelivery, listDeliveries } from '../queries/deliveries.ts';
import { findWebhook, listWebhooks } from '../queries/webhooks.ts';

interface Dependencies {
  db: Database;
  baseUrl: string;
  commands: WebhookCommands;
  acknowledge: Acknowledge;
  /** Counts a failed credential. @throws Failure `too-many-requests`. */
  countRefusal(ctx: Context): Promise<void>;
}

/** The service's handlers by operationId (openapi.yaml, tag webhooks). */
export function createHandlers({ db, baseUrl, commands, acknowledge, countRefusal }: Dependencies) {
  return {
    async listWebhooks(ctx, { query }) {
      const find = (page: PageRequest) => listWebhooks(db, page);
      await sendList(ctx, query, { url: `${baseUrl}/webhooks`, find, present: presentWebhook });
    },

    async createWebhook(ctx, { body }) {
      const { webhook, secret } = await commands.create(body);
      ctx.status = 201;
      ctx.set('Location', `${baseUrl}/webhooks/${webhook.id}`);
      ctx.body = { ...presentWebhook(webhook), secret };
    },

    async getWebhook(ctx, { params }) {
      ctx.body = presentWebhook(await getWebhook(db, readId(params.id)));
    },

    async updateWebhook(ctx, { params, body }) {
      ctx.body = presentWebhook(await commands.update(readId(params.id), body));
    },

    async deleteWebhook(ctx, { params }) {
      await commands.delete(readId(params.id));
      ctx.status = 204;
    },

    async renewWebhookSecret(ctx, { params }) {
      const { webhook, secret } = await commands.renewSecret(readId(params.id));
      ctx.body = { ...presentWebhook(webhook), secret };
    },

    async resumeWebhook(ctx, { params }) {
      ctx.body = presentWebhook(await commands.resume(readId(params.id)));
    },

    async listDeliveries(ctx, { params, query }) {
      const { id: webhook } = await getWebhook(db, readId(params.id));
      const filter = readDeliveryFilter(query);
      const find = (page: PageRequest) => listDeliveries(db, { ...page, webhook, filter });
      const url = `${baseUrl}/webhooks/${webhook}/deliveries`;
      const parameters = repeatFilter(query);
      await sendList(ctx, query, { url, parameters, find, present: presentDelivery });
    },

    async getDelivery(ctx, { params }) {
      const delivery = await findDelivery(db, { webhook: readId(params.id), id: readId(params.did) });
      if (!delivery) throw webhookNotFound();
      const { messageId, event } = delivery;
      ctx.body = { ...presentDelivery(delivery), messageId, body: writeBody(event) };
    },

    async testWebhook(ctx, { params }) {
      ctx.body = presentDelivery(await commands.test(readId(params.id)));
      ctx.status = 202;
    },

    async repeatDelivery(ctx, { params }) {
      const delivery = { webhook: readId(params.id), id: readId(params.did) };
      ctx.body = presentDelivery(await commands.redeliver(delivery));
      ctx.status = 202;
    },

    async acknowledgeDelivery(ctx, { params, query, body }) {
      const delivery = { webhook: readId(params.id), message: readId(params.did), t: query.t ?? '' };
      try {
        await acknowledge({ ...delivery, ...readAcknowledgement(body) });
      } catch (error) {
        if (error instanceof Failure && error.code === 'not-found') await countRefusal(ctx);
        throw error;
      }
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}

/** Reads the filters of a list of deliveries. @throws Failure `invalid` that names each faulty one. */
function readDeliveryFilter({ status, action, sourceId }: Input<'listDeliveries'>['query']): DeliveryFilter {
  const faults: Fault[] = [];
  const statuses = readChoices(status, 'status', deliveryStatuses, faults);
  const actions = readChoices(action?.map(meaningOf), 'action', deliveredActions, faults);
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return { statuses, actions, sourceId: sourceId || undefined };
}

/** The filters of a list of deliveries, for the URL of its next page. */
function repeatFilter(query: Input<'listDeliveries'>['query']): Record<string, string> {
  const { status, action, sourceId } = query;
  const given = Object.entries({ status, action, sourceId }).map(([name, value]) => [
    name,
    String(value ?? ''),
  ]);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

async function getWebhook(db: Database, id: string) {
  const webhook = await findWebhook(db, id);
  if (!webhook) throw webhookNotFound();
  return webhook;
}

/** @throws Failure `not-found` for text that cannot be an id. */
function readId(id: string): string {
  if (!uuidPattern.test(id)) throw webhookNotFound();
  return id;
}
