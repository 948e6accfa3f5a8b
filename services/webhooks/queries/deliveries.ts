import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import type { Position } from '#lib/http/cursor.ts';
import { newUuid } from '#lib/ids/new-uuid.ts';
import type { CarriedEvent } from '../domain/message.ts';
import type { Delivery } from '../domain/webhook.ts';

const columns = sql`
  d.id, d.webhook, d.action, d.source_id AS "sourceId", d.redelivery, d.status, d.attempts,
  CASE WHEN d.status = 'PENDING' THEN d.not_before END AS "nextAttemptAt",
  d.status_code AS "statusCode", d.duration_ms AS "durationMs", d.error, d.created_at AS "createdAt", d.delivered_at AS "deliveredAt"`;

/** Transactions that overlap: an event may be dated a little before a webhook that was made before it. */
const toleranceSeconds = 60;

/** What somebody has subscribed to, by the names that were given. */
export async function subscribedNames(db: Queries): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ name: string }>(
    sql`SELECT DISTINCT a.name FROM webhooks AS w, unnest(w.subscribed_actions) AS a (name)`,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Makes a delivery of an event for every webhook that has subscribed to it, paused or not, and notes the event in the same statement: one that
 * comes again makes none. What happened before a webhook was made is not for it: some topics keep events for ever.
 * @param names those by which one may have subscribed. @param consumer who notes it. @returns how many.
 */
export async function queueDeliveries(
  db: Queries,
  {
    event,
    action,
    names,
    consumer,
  }: { event: CarriedEvent; action: string; names: readonly string[]; consumer: string },
): Promise<number> {
  // Ids are those of this moment, so that neighbours in time are neighbours in the index; what tells them apart is drawn for each.
  const moment = newUuid().slice(0, 18);
  const queued = await db.query(sql`
    WITH noted AS (${noteOnce({ consumer, eventId: event.id })}
    ), wanted AS MATERIALIZED (
      -- Locked, so that none is deleted before its delivery is there.
      SELECT w.id AS webhook, overlay(gen_random_uuid()::text placing ${moment} from 1)::uuid AS id FROM webhooks AS w
       WHERE w.subscribed_actions && ${names}::text[]
         AND w.created_at <= ${event.time}::timestamptz + ${toleranceSeconds} * interval '1 second'
         FOR KEY SHARE
    )
    INSERT INTO deliveries (id, webhook, message_id, event_id, action, source_id, event, redelivery, status, not_before, created_at)
    SELECT n.id, n.webhook, n.id, ${event.id}, ${action}, ${event.subject}, ${event}::jsonb, false, 'PENDING', accord_now(), accord_now()
      FROM noted, wanted AS n
    ON CONFLICT (webhook, event_id) WHERE NOT redelivery DO NOTHING
    RETURNING id`);
  return queued.length;
}

/** Newest first, after a position. */
export function listDeliveries(
  db: Queries,
  { webhook, after, limit }: { webhook: string; after: Position | undefined; limit: number },
): Promise<(Delivery & { position: string })[]> {
  const from = after
    ? sql`AND (d.created_at, d.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, d.created_at::text AS position FROM deliveries AS d
     WHERE d.webhook = ${webhook} ${from}
     ORDER BY d.created_at DESC, d.id DESC LIMIT ${limit}`);
}

/** Makes a delivery of the same message again. @returns undefined if the webhook has no such delivery. */
export function copyDelivery(
  db: Queries,
  { webhook, id }: { webhook: string; id: string },
): Promise<Delivery | undefined> {
  return db.maybeOne<Delivery>(sql`
    INSERT INTO deliveries AS d (id, webhook, message_id, event_id, action, source_id, event, redelivery, status, not_before, created_at)
    SELECT ${newUuid()}, o.webhook, o.message_id, o.event_id, o.action, o.source_id, o.event, true, 'PENDING', accord_now(), accord_now()
      FROM deliveries AS o WHERE o.id = ${id} AND o.webhook = ${webhook}
    RETURNING ${columns}`);
}

/** Makes a delivery that waits due now. @returns undefined if it does not wait. */
export function hastenDelivery(
  db: Queries,
  { webhook, id }: { webhook: string; id: string },
): Promise<Delivery | undefined> {
  return db.maybeOne<Delivery>(sql`
    UPDATE deliveries AS d SET not_before = least(d.not_before, accord_now())
     WHERE d.id = ${id} AND d.webhook = ${webhook} AND d.status = 'PENDING'
    RETURNING ${columns}`);
}

/** So many rows a statement: an endpoint that is away for days leaves more than one statement has time for. */
const step = 5_000;

/**
 * Begins anew with what waits for another attempt: somebody has mended the endpoint. What has not been attempted yet is due anyway.
 * @returns whether there may be more.
 */
export async function restartDeliveries(db: Queries, webhook: string): Promise<boolean> {
  const restarted = await db.query(sql`
    UPDATE deliveries SET not_before = least(not_before, accord_now()), attempts = 0
     WHERE id IN (
       SELECT d.id FROM deliveries AS d
        WHERE d.webhook = ${webhook} AND d.status = 'PENDING' AND (d.attempts > 0 OR d.not_before > accord_now())
        LIMIT ${step} FOR UPDATE)
    RETURNING id`);
  return restarted.length === step;
}

/** Removes deliveries of a webhook that is to go. @returns whether there may be more. */
export async function dropDeliveries(db: Queries, webhook: string): Promise<boolean> {
  const dropped = await db.query(sql`
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM deliveries AS d WHERE d.webhook = ${webhook} LIMIT ${step} FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return dropped.length === step;
}

/** Removes what is older than so many days, finished or not. @returns how many rows went. */
export async function forgetDeliveries(
  db: Queries,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const gone = await db.query(sql`
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM deliveries AS d WHERE d.created_at < accord_now() - ${days} * interval '1 day'
       ORDER BY d.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return gone.length;
}

/** What metrics say of deliveries: those of endpoints in use, and the age of the oldest that is due. */
export function waitingDeliveries(
  db: Queries,
): Promise<{ kind: string; rows: number; oldestSeconds: number }[]> {
  return db.query(sql`
    SELECT 'webhook' AS kind, count(*)::int AS rows,
           coalesce(extract(epoch FROM accord_now() - min(d.not_before) FILTER (WHERE d.not_before <= accord_now())), 0)::float8 AS "oldestSeconds"
      FROM (SELECT d.not_before FROM webhooks AS w JOIN deliveries AS d ON d.webhook = w.id
             WHERE w.state = 'ACTIVE' AND d.status = 'PENDING' LIMIT 100000) AS d`);
}
