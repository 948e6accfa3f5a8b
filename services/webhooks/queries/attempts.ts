import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/new-uuid.ts';
import type { CarriedEvent } from '../domain/message.ts';

/** A delivery that this process has to attempt now, and all that it needs for it. */
export interface Claim {
  id: string;
  webhook: string;
  messageId: string;
  event: CarriedEvent;
  /** Names this claim: nobody else's word counts while it is in force. */
  lease: string;
  /** Made before this one. */
  attempts: number;
  targetUrl: string;
  secret: Buffer;
  /** Null when it is over. */
  formerSecret: Buffer | null;
  /** Seconds since 1970, by the database: the receiver refuses what our own wrong clock would date. */
  sentAt: number;
}

/**
 * Claims what is due: of each webhook as many as there is room for, so that none takes the room of the others. A lease and not a lock:
 * nothing is sent inside a transaction, and what a killed process has claimed is free again when the lease is over.
 * @param limits.held what this process has claimed already, by webhook. @param limits.perWebhook with that; of one that fails it is 1.
 */
export function claimDeliveries(
  db: Queries,
  limits: { held: ReadonlyMap<string, number>; perWebhook: number; room: number; leaseSeconds: number },
): Promise<Claim[]> {
  const { held, perWebhook, room, leaseSeconds } = limits;
  return db.query(sql`
    WITH due AS MATERIALIZED (
      SELECT n.id
        FROM (SELECT w.id, CASE WHEN w.failing_since IS NOT NULL THEN 1 ELSE ${perWebhook}::int END - coalesce(b.count, 0) AS room
                FROM webhooks AS w
                LEFT JOIN unnest(${[...held.keys()]}::uuid[], ${[...held.values()]}::int[]) AS b (webhook, count) ON b.webhook = w.id
               WHERE w.state = 'ACTIVE'
               -- Those that work before those that fail; and no order among them, else the last would always be the last.
               ORDER BY w.failing_since IS NOT NULL, random()) AS w
       CROSS JOIN LATERAL (
             SELECT d.id FROM deliveries AS d
              WHERE d.webhook = w.id AND d.status = 'PENDING' AND d.not_before <= accord_now()
                AND (d.lease_until IS NULL OR d.lease_until < now())
              ORDER BY d.not_before
              LIMIT greatest(w.room, 0)
                FOR UPDATE SKIP LOCKED) AS n
       LIMIT ${room})
    UPDATE deliveries AS d
       SET lease = ${newUuid()}, lease_until = now() + ${leaseSeconds} * interval '1 second'
      FROM due, webhooks AS w
     WHERE d.id = due.id AND w.id = d.webhook
    RETURNING d.id, d.webhook, d.message_id AS "messageId", d.event, d.lease, d.attempts,
              w.target_url AS "targetUrl", w.secret,
              CASE WHEN w.former_until > accord_now() THEN w.former_secret END AS "formerSecret",
              floor(extract(epoch FROM now()))::float8 AS "sentAt"`);
}

/** A delivery that got through. */
export interface Delivered {
  id: string;
  webhook: string;
  statusCode: number;
  ms: number;
}

/**
 * They got through: whoever else has claimed them meanwhile, they are done, and their endpoints work. One statement, so that both are known or
 * neither; first the webhooks, then their deliveries, each in the order of their ids: else two who do so could wait for each other.
 */
export async function markDelivered(db: Queries, all: readonly Delivered[]): Promise<void> {
  const [ids, webhooks] = [all.map(({ id }) => id), all.map(({ webhook }) => webhook)];
  const [codes, times] = [all.map(({ statusCode }) => statusCode), all.map(({ ms }) => ms)];
  await db.query(sql`
    WITH failed AS MATERIALIZED (
      SELECT w.id FROM webhooks AS w WHERE w.id = ANY(${webhooks}::uuid[]) AND w.failing_since IS NOT NULL ORDER BY w.id FOR NO KEY UPDATE
    ), well AS (
      UPDATE webhooks AS w SET failing_since = NULL FROM failed AS f WHERE w.id = f.id RETURNING w.id
    ), open AS MATERIALIZED (
      SELECT d.id FROM deliveries AS d
       WHERE (SELECT count(*) FROM well) >= 0 AND d.id = ANY(${ids}::uuid[]) AND d.status <> 'DELIVERED' ORDER BY d.id FOR NO KEY UPDATE
    )
    UPDATE deliveries AS d
       SET status = 'DELIVERED', attempts = d.attempts + 1, delivered_at = accord_now(), status_code = n.code, duration_ms = n.ms, error = NULL, lease = NULL, lease_until = NULL
      FROM open AS o JOIN unnest(${ids}::uuid[], ${codes}::int[], ${times}::int[]) AS n (id, code, ms) ON n.id = o.id
     WHERE d.id = o.id`);
}

/**
 * It did not get through. @param waitMs until the next attempt; undefined: there is none.
 * @returns false if this claim is over: another process has it now, and its word counts.
 */
export async function markFailed(
  db: Queries,
  { id, lease }: Pick<Claim, 'id' | 'lease'>,
  facts: { statusCode: number | null; ms: number; error: string; waitMs: number | undefined },
): Promise<boolean> {
  const { statusCode, ms, error, waitMs } = facts;
  const found = await db.query(sql`
    UPDATE deliveries AS d
       SET status = ${waitMs === undefined ? 'FAILED' : 'PENDING'}, attempts = d.attempts + 1, not_before = accord_now() + ${waitMs ?? 0} * interval '1 millisecond',
           status_code = ${statusCode}, duration_ms = ${ms}, error = ${error}, lease = NULL, lease_until = NULL
     WHERE d.id = ${id} AND d.lease = ${lease} AND d.status = 'PENDING'
    RETURNING d.id`);
  return found.length > 0;
}

/** Gives claims back as if they had not been: there will be no answer. */
export async function releaseClaims(
  db: Queries,
  claims: readonly Pick<Claim, 'id' | 'lease'>[],
): Promise<void> {
  if (claims.length === 0) return;
  const [ids, leases] = [claims.map(({ id }) => id), claims.map(({ lease }) => lease)];
  await db.query(sql`
    UPDATE deliveries AS d SET lease = NULL, lease_until = NULL
      FROM unnest(${ids}::uuid[], ${leases}::uuid[]) AS n (id, lease)
     WHERE d.id = n.id AND d.lease = n.lease AND d.status = 'PENDING'`);
}
