import type { AuditAction } from '#lib/audit/actions.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import { drawSecret, testEvent } from '../domain/message.ts';
import {
  type Delivery,
  readWebhook,
  requireName,
  type Webhook,
  type WebhookInput,
  type WebhookSettings,
} from '../domain/webhook.ts';
import {
  copyDelivery,
  deleteDeliveries,
  expediteDelivery,
  queueTest,
  restartDeliveries,
} from '../queries/deliveries.ts';
import {
  activateWebhook,
  deleteWebhook,
  endWait,
  findWebhook,
  insertWebhook,
  lockWebhook,
  replaceSecret,
  updateWebhook,
} from '../queries/webhooks.ts';

interface Dependencies {
  db: Database;
  secrets: SecretBox;
  baseUrl: string;
  /**
   * Why a URL must not be called; undefined if it may be, or if its name cannot be resolved at the moment.
   */
  refuseTarget(url: string): Promise<string | undefined>;
  /** Tells the delivery engine that a delivery is due. */
  wake(): void;
}

/** For this long after a change, messages carry the signatures of both secrets. */
const overlapHours = 24;

/** Changes to webhooks and their deliveries, each for one operation of openapi.yaml. */
export function createWebhookCommands({ db, secrets, baseUrl, refuseTarget, wake }: Dependencies) {
  return {
    /**
     * Creates a webhook; its name defaults to the URL's host.
     * @returns the webhook, and its secret, which is not shown again. @throws Failure `invalid`.
     */
    async create(
      input: WebhookInput & Pick<Webhook, 'targetUrl'> & { subscribedActions: string[] },
    ): Promise<{ webhook: Webhook; secret: string }> {
      const read = readWebhook(input, await refuseTarget(input.targetUrl));
      const { targetUrl, subscribedActions } = input;
      const unnamed = { recipient: null, elements: null, acknowledgeWithin: null };
      const settings: WebhookSettings = { name: '', targetUrl, subscribedActions, ...unnamed, ...read };
      if (settings.name === '') settings.name = new URL(settings.targetUrl).host;
      requireName(settings);
      const id = newUuid();
      const secret = drawSecret();
      const sealed = secrets.seal(id, secret);
      return db.withTransaction(async (tx) => {
        const webhook = await insertWebhook(tx, { id, ...settings, secret: sealed });
        await record(tx, 'webhook.created', id);
        return { webhook, secret };
      });
    },

    /**
     * Changes a webhook. Pending deliveries are sent to a new URL at once. @throws Failure `not-found`,
     * `invalid`.
     */
    async update(id: string, input: WebhookInput): Promise<Webhook> {
      const refusal = input.targetUrl === undefined ? undefined : await refuseTarget(input.targetUrl);
      const changes = readWebhook(input, refusal);
      let hasMore = false;
      const changed = await db.withTransaction(async (tx) => {
        const before = await lockWebhook(tx, id);
        if (!before) throw webhookNotFound();
        const wanted = { ...before, ...changes };
        requireName(wanted);
        const after = await updateWebhook(tx, wanted);
        await record(tx, 'webhook.updated', id);
        hasMore = before.targetUrl !== after.targetUrl && (await restartDeliveries(tx, id));
        return after;
      });
      while (hasMore) hasMore = await restartDeliveries(db, id);
      wake();
      return changed;
    },

    /** Deletes a webhook and its deliveries. @throws Failure `not-found`. */
    async delete(id: string): Promise<void> {
      while (await deleteDeliveries(db, id));
      await db.withTransaction(async (tx) => {
        if (!(await deleteWebhook(tx, id))) throw webhookNotFound();
        await record(tx, 'webhook.deleted', id);
      });
    },

    /** Replaces the secret. @returns the new one, which is not shown again. @throws Failure `not-found`. */
    async renewSecret(id: string): Promise<{ webhook: Webhook; secret: string }> {
      const secret = drawSecret();
      return db.withTransaction(async (tx) => {
        const webhook = await replaceSecret(tx, { id, secret: secrets.seal(id, secret), overlapHours });
        if (!webhook) throw webhookNotFound();
        await record(tx, 'webhook.secret-renewed', id);
        return { webhook, secret };
      });
    },

    /**
     * Resumes a paused webhook; its pending deliveries are due at once. An active one is unchanged.
     * @throws Failure `not-found`.
     */
    async resume(id: string): Promise<Webhook> {
      // Only test messages are attempted while the webhook is paused, so most rows are changed before it is
      // locked.
      if ((await findWebhook(db, id))?.state === 'PAUSED') while (await restartDeliveries(db, id));
      const webhook = await db.withTransaction(async (tx) => {
        const before = await lockWebhook(tx, id);
        if (!before) throw webhookNotFound();
        if (before.state === 'ACTIVE') return before;
        await record(tx, 'webhook.resumed', id);
        await restartDeliveries(tx, id);
        return activateWebhook(tx, id);
      });
      wake();
      return webhook;
    },

    /**
     * Sends a test message, also to a paused webhook. It has one attempt, which does not change the webhook's
     * state. @returns its delivery. @throws Failure `not-found`.
     */
    async test(id: string): Promise<Delivery> {
      const delivery = await db.withTransaction(async (tx) => {
        const event = testEvent({ webhook: id, source: baseUrl });
        const queued = await queueTest(tx, { webhook: id, event });
        if (!queued) throw webhookNotFound();
        await endWait(tx, id);
        await record(tx, 'webhook.tested', id);
        return queued;
      });
      wake();
      return delivery;
    },

    /**
     * Sends a message again, as a new delivery with the same `webhook-id`; a pending delivery becomes due now
     * instead.
     * @throws Failure `not-found`, or `wrong-state` while the webhook is paused.
     */
    async redeliver(delivery: { webhook: string; id: string }): Promise<Delivery> {
      const due = await db.withTransaction(async (tx) => {
        const webhook = await lockWebhook(tx, delivery.webhook);
        if (!webhook) throw webhookNotFound();
        const members = { state: webhook.state };
        if (webhook.state === 'PAUSED')
          throw fail('wrong-state', 'The webhook is paused; resume it first.', { members });
        const repeated = (await expediteDelivery(tx, delivery)) ?? (await copyDelivery(tx, delivery));
        if (!repeated) throw fail('not-found', 'Delivery not found.');
        await endWait(tx, delivery.webhook);
        await record(tx, 'delivery.repeated', delivery.webhook);
        return repeated;
      });
      wake();
      return due;
    },
  };
}

function record(tx: Queries, action: AuditAction, id: string): Promise<void> {
  return recordAction(tx, { action, target: `webhook/${id}` });
}

export type WebhookCommands = ReturnType<typeof createWebhookCommands>;

/** The failure for an unknown webhook id. */
export function webhookNotFound() {
  return fail('not-found', 'Webhook not found.');
}
