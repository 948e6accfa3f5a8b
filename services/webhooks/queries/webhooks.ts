import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { PageRequest } from '#lib/http/lists.ts';
import type { Webhook, WebhookSettings } from '../domain/webhook.ts';

/** Without the secret, which only the delivery engine reads. */
const columns = sql`
  w.id, w.name, w.target_url AS "targetUrl", w.subscribed_actions AS "subscribedActions", w.state,
  w.recipient, w.elements, w.acknowledge_within AS "acknowledgeWithin",
  w.state_since AS "stateSince", w.failing_since AS "failingSince", w.last_error AS "lastError",
  w.last_error_code AS "lastErrorCode", w.last_error_at AS "lastErrorAt",
  w.created_at AS "createdAt", w.modified_at AS "modifiedAt"`;

export function insertWebhook(
  db: Queries,
  webhook: WebhookSettings & { id: string; secret: Buffer },
): Promise<Webhook> {
  return db.one<Webhook>(sql`
    INSERT INTO webhooks AS w (id, name, target_url, subscribed_actions, recipient, elements, acknowledge_within, secret,
                               state, state_since, created_at, modified_at)
    VALUES (${webhook.id}, ${webhook.name}, ${webhook.targetUrl}, ${webhook.subscribedActions}, ${webhook.recipient},
            ${webhook.elements}::text[], ${webhook.acknowledgeWithin}, ${webhook.secret},
            'ACTIVE', accord_now(), accord_now(), accord_now())
    RETURNING ${columns}`);
}

/** A page of webhooks, newest first. @param after end of the previous page. */
export function listWebhooks(
  db: Queries,
  { after, limit }: PageRequest,
): Promise<(Webhook & { position: string })[]> {
  const from = after
    ? sql`WHERE (w.created_at, w.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, w.created_at::text AS position FROM webhooks AS w ${from}
     ORDER BY w.created_at DESC, w.id DESC LIMIT ${limit}`);
}

export function findWebhook(db: Queries, id: string): Promise<Webhook | undefined> {
  return db.maybeOne(sql`SELECT ${columns} FROM webhooks AS w WHERE w.id = ${id}`);
}

/** Reads and locks a webhook, so that concurrent changes are serialised. */
export function lockWebhook(db: Queries, id: string): Promise<Webhook | undefined> {
  return db.maybeOne(sql`SELECT ${columns} FROM webhooks AS w WHERE w.id = ${id} FOR NO KEY UPDATE`);
}

/** Updates a webhook. A new URL resets its failures. */
export function updateWebhook(db: Queries, webhook: WebhookSettings & { id: string }): Promise<Webhook> {
  const { id, name, targetUrl, subscribedActions, recipient, elements, acknowledgeWithin } = webhook;
  return db.one<Webhook>(sql`
    UPDATE webhooks AS w
       SET name = ${name}, target_url = ${targetUrl}, subscribed_actions = ${subscribedActions}, modified_at = accord_now(),
           recipient = ${recipient}, elements = ${elements}::text[], acknowledge_within = ${acknowledgeWithin},
           failing_since = CASE WHEN w.target_url = ${targetUrl} THEN w.failing_since END,
           failures = CASE WHEN w.target_url = ${targetUrl} THEN w.failures ELSE 0 END,
           next_at = CASE WHEN w.target_url = ${targetUrl} THEN w.next_at ELSE now() END
     WHERE w.id = ${id}
    RETURNING ${columns}`);
}

/** Resumes a webhook and resets its failures. */
export function activateWebhook(db: Queries, id: string): Promise<Webhook> {
  return db.one<Webhook>(sql`
    UPDATE webhooks AS w SET state = 'ACTIVE', state_since = accord_now(), failing_since = NULL, failures = 0, next_at = now()
     WHERE w.id = ${id}
    RETURNING ${columns}`);
}

/** Ends the wait of a failing endpoint, because a person asks for a delivery now. */
export async function endWait(db: Queries, id: string): Promise<void> {
  await db.query(sql`UPDATE webhooks AS w SET next_at = now() WHERE w.id = ${id} AND w.next_at > now()`);
}

/** Deletes a webhook and, by cascade, its deliveries. @returns false if it does not exist. */
export async function deleteWebhook(db: Queries, id: string): Promise<boolean> {
  return (await db.query(sql`DELETE FROM webhooks AS w WHERE w.id = ${id} RETURNING w.id`)).length > 0;
}

/** Replaces the secret; the former one keeps signing for `overlapHours`. */
export function replaceSecret(
  db: Queries,
  { id, secret, overlapHours }: { id: string; secret: Buffer; overlapHours: number },
): Promise<Webhook | undefined> {
  return db.maybeOne<Webhook>(sql`
    UPDATE webhooks AS w
       SET former_secret = w.secret, former_until = accord_now() + ${overlapHours} * interval '1 hour',
           secret = ${secret}, modified_at = accord_now()
     WHERE w.id = ${id}
    RETURNING ${columns}`);
}
