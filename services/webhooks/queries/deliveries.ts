import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, join, type Statement, sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import type { PageRequest } from '#lib/http/lists.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { testAction, withdrawnAction } from '../domain/actions.ts';
import type { CarriedEvent } from '../domain/message.ts';
import type { Delivery, DeliveryFilter } from '../domain/webhook.ts';
import { queueNotices } from './notices.ts';

const columns = sql`
  d.id, d.webhook, d.action, d.source_id AS "sourceId", d.redelivery, d.status, d.attempts,
  CASE WHEN d.status = 'PENDING' THEN greatest(d.not_before, d.created_at) END AS "nextAttemptAt",
  d.status_code AS "statusCode", d.duration_ms AS "durationMs", d.error, d.created_at AS "createdAt", d.delivered_at AS "deliveredAt",
  (SELECT m.outcome FROM notice_messages AS m WHERE m.message = d.message_id) AS acknowledged`;

/**
 * An event has the time at which its change began. Its COMMIT may come after the creation of a webhook, so a
 * webhook receives events that are up to this much older than itself.
 */
const toleranceSeconds = 60;

/** Every name that any webhook has subscribed to. */
export async function subscribedNames(db: Queries): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ name: string }>(
    sql`SELECT DISTINCT a.name FROM webhooks AS w, unnest(w.subscribed_actions) AS a (name)`,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Creates a delivery of an event for every subscribed webhook, paused or not, and its inbox entry in the same
 * statement, so that a repeated event has no effect. A webhook receives no event that is more than a minute
 * older than the webhook. A withdrawal or an erasure also creates a notice for each webhook that names its
 * organisation.
 * @param names the action and its aliases. @param consumer of the inbox entry. @returns the number of
 * deliveries.
 */
export async function queueDeliveries(
  db: Queries,
  queued: { event: CarriedEvent; action: string; names: readonly string[]; consumer: string },
): Promise<number> {
  const { event, action, names, consumer } = queued;
  // UUIDs with the current time as their prefix, so that recent rows are neighbours in the index.
  const moment = newUuid().slice(0, 18);
  const isWithdrawal = action === withdrawnAction;
  const reason = reasonOf(event, action);
  const created = await db.query(sql`
    WITH noted AS (${noteOnce({ consumer, eventId: event.id })}
    ), wanted AS MATERIALIZED (
      -- Locked, so that a webhook is not deleted before its delivery is inserted.
      SELECT w.id AS webhook, overlay(gen_random_uuid()::text placing ${moment} from 1)::uuid AS id, w.recipient,
             w.acknowledge_within::interval AS period
        FROM webhooks AS w
       WHERE w.subscribed_actions && ${names}::text[] ${isWithdrawal ? concerned(event) : empty}
         AND w.created_at <= ${event.time}::timestamptz + ${toleranceSeconds} * interval '1 second'
         FOR KEY SHARE
    ), queued AS (
    INSERT INTO deliveries (id, webhook, message_id, event_id, action, source_id, event, redelivery, status, not_before, created_at)
    SELECT n.id, n.webhook, n.id, ${event.id}, ${action}, ${event.subject}, ${event}::jsonb, false, 'PENDING', accord_now(), accord_now()
      FROM noted, wanted AS n
    ON CONFLICT (webhook, event_id) WHERE NOT redelivery DO NOTHING
    RETURNING id, webhook
    )${reason === undefined ? empty : sql`, ${queueNotices(reason, event.source)}`}
    SELECT id FROM queued`);
  return created.length;
}

/**
 * The withdrawal or erasure to whose notice a message belongs. Undefined for other actions, and for records
 * that are erased because their retention has ended.
 */
function reasonOf({ subject, data }: CarriedEvent, action: string): string | undefined {
  if (action === withdrawnAction) return subject;
  if (action !== 'subject.erased') return undefined;
  return (data as EventData['io.accord.subject.erased.v1']).erasure;
}

/** SQL: the condition that a withdrawal concerns one of the elements of the webhook `w`. */
function concerned({ data }: CarriedEvent): Statement {
  const { withdraws } = data as EventData['io.accord.consent.withdrawn.v1'];
  const keys = withdraws.map(({ element }) => element);
  return sql`AND (w.elements IS NULL OR w.elements && ${keys}::text[])`;
}

/**
 * Creates the delivery of a test message, due before all others of the webhook. @returns undefined if there
 * is no such webhook.
 */
export function queueTest(
  db: Queries,
  { webhook, event }: { webhook: string; event: CarriedEvent },
): Promise<Delivery | undefined> {
  const id = newUuid();
  return db.maybeOne<Delivery>(sql`
    INSERT INTO deliveries AS d (id, webhook, message_id, event_id, action, source_id, event, redelivery, status, not_before, created_at)
    SELECT ${id}, w.id, ${id}, ${event.id}, ${testAction}, ${event.subject}, ${event}::jsonb, false, 'PENDING',
           (SELECT least(min(d.not_before), accord_now()) - interval '1 millisecond'
              FROM deliveries AS d WHERE d.webhook = w.id AND d.status = 'PENDING'), accord_now()
      FROM webhooks AS w WHERE w.id = ${webhook} FOR KEY SHARE
    RETURNING ${columns}`);
}

/** A page of deliveries, newest first. @param after end of the previous page. */
export function listDeliveries(
  db: Queries,
  { webhook, filter, after, limit }: PageRequest & { webhook: string; filter: DeliveryFilter },
): Promise<(Delivery & { position: string })[]> {
  const { statuses, actions, sourceId } = filter;
  const matching = [
    statuses && sql`d.status = ANY(${statuses})`,
    actions && sql`d.action = ANY(${actions})`,
    sourceId === undefined ? undefined : sql`d.source_id = ${sourceId}`,
  ].filter((condition) => condition !== undefined);
  if (after) matching.push(sql`(d.created_at, d.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`);
  return db.query(sql`
    SELECT ${columns}, d.created_at::text AS position FROM deliveries AS d
     WHERE ${join([sql`d.webhook = ${webhook}`, ...matching], ' AND ')}
     ORDER BY d.created_at DESC, d.id DESC LIMIT ${limit}`);
}

/** A delivery with the event that it carries. */
export function findDelivery(
  db: Queries,
  { webhook, id }: { webhook: string; id: string },
): Promise<(Delivery & { messageId: string; event: CarriedEvent }) | undefined> {
  return db.maybeOne(sql`
    SELECT ${columns}, d.message_id AS "messageId", d.event FROM deliveries AS d
     WHERE d.webhook = ${webhook} AND d.id = ${id}`);
}

/** Creates another delivery of the same message. @returns undefined if the webhook has no such delivery. */
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

/** Makes a pending delivery due now. @returns undefined if it is not pending. */
export function expediteDelivery(
  db: Queries,
  { webhook, id }: { webhook: string; id: string },
): Promise<Delivery | undefined> {
  return db.maybeOne<Delivery>(sql`
    UPDATE deliveries AS d SET not_before = least(d.not_before, accord_now())
     WHERE d.id = ${id} AND d.webhook = ${webhook} AND d.status = 'PENDING'
    RETURNING ${columns}`);
}

/**
 * Rows per statement: after days of failure a webhook has more rows than one statement can change in time.
 */
const batchSize = 5_000;

/**
 * Makes one batch of pending deliveries due now and resets their attempts. @returns whether there may be
 * more.
 */
export async function restartDeliveries(db: Queries, webhook: string): Promise<boolean> {
  const restarted = await db.query(sql`
    UPDATE deliveries SET not_before = least(not_before, accord_now()), attempts = 0
     WHERE id IN (
       SELECT d.id FROM deliveries AS d
        WHERE d.webhook = ${webhook} AND d.status = 'PENDING' AND (d.attempts > 0 OR d.not_before > accord_now())
        ORDER BY d.id LIMIT ${batchSize} FOR NO KEY UPDATE)
    RETURNING id`);
  return restarted.length === batchSize;
}

/** Deletes one batch of a webhook's deliveries. @returns whether there may be more. */
export async function deleteDeliveries(db: Queries, webhook: string): Promise<boolean> {
  const deleted = await db.query(sql`
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM deliveries AS d WHERE d.webhook = ${webhook} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return deleted.length === batchSize;
}

/** Deletes deliveries by age, whatever their status. @returns the number of deleted rows. */
export async function deleteOldDeliveries(
  db: Queries,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM deliveries AS d WHERE d.created_at < accord_now() - ${days} * interval '1 day'
       ORDER BY d.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return deleted.length;
}

/**
 * For metrics: pending deliveries of active webhooks (up to 100,000) and the longest time for which one of
 * them has been due.
 */
export function waitingDeliveries(
  db: Queries,
): Promise<{ kind: string; rows: number; oldestSeconds: number }[]> {
  return db.query(sql`
    SELECT 'webhook' AS kind, count(*)::int AS rows,
           coalesce(extract(epoch FROM accord_now() - min(d.not_before) FILTER (WHERE d.not_before <= accord_now())), 0)::float8 AS "oldestSeconds"
      FROM (SELECT d.not_before FROM webhooks AS w JOIN deliveries AS d ON d.webhook = w.id
             WHERE w.state = 'ACTIVE' AND d.status = 'PENDING' LIMIT 100000) AS d`);
}

/**
 * For metrics: pending deliveries of each active webhook (up to 10,000) and, of those, the age of the oldest;
 * longest wait first.
 */
export function listBacklogs(
  db: Queries,
  { limit }: { limit: number },
): Promise<{ webhook: string; rows: number; oldestSeconds: number }[]> {
  return db.query(sql`
    SELECT w.id AS webhook, b.rows, b.oldest AS "oldestSeconds"
      FROM webhooks AS w
     CROSS JOIN LATERAL (
           SELECT count(*)::int AS rows,
                  coalesce(extract(epoch FROM accord_now() - min(d.created_at)), 0)::float8 AS oldest
             FROM (SELECT d.created_at FROM deliveries AS d
                    WHERE d.webhook = w.id AND d.status = 'PENDING' LIMIT 10000) AS d) AS b
     WHERE w.state = 'ACTIVE'
     ORDER BY b.oldest DESC, w.id LIMIT ${limit}`);
}
