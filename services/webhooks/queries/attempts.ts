import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Settlement } from '#lib/deliveries/delivery-kind.ts';

/**
 * A finished attempt. The delivery engine holds the lease of its webhook and has locked the webhook's row.
 */
type Attempt = Pick<
  Settlement<
    { id: string; webhook: string; isTest?: boolean },
    { statusCode: number | null; error?: string }
  >,
  'row' | 'ending' | 'facts' | 'ms' | 'waitMs'
>;

/**
 * Records successful attempts. Locks rows in the order of their ids, as other statements that wait for
 * several rows do.
 */
export async function markDelivered(
  tx: Queries,
  attempts: readonly Pick<Attempt, 'row' | 'facts' | 'ms'>[],
): Promise<void> {
  const ids = attempts.map(({ row }) => row.id);
  const webhooks = attempts.filter(({ row }) => !row.isTest).map(({ row }) => row.webhook);
  const [codes, times] = [attempts.map(({ facts }) => facts.statusCode), attempts.map(({ ms }) => ms)];
  await tx.query(sql`
    WITH working AS (
      UPDATE webhooks AS w SET failing_since = NULL
       WHERE w.id = ANY(${webhooks}::uuid[]) AND w.failing_since IS NOT NULL
    ), open AS MATERIALIZED (
      SELECT d.id FROM deliveries AS d WHERE d.id = ANY(${ids}::uuid[]) AND d.status <> 'DELIVERED' ORDER BY d.id FOR NO KEY UPDATE
    )
    UPDATE deliveries AS d
       SET status = 'DELIVERED', attempts = d.attempts + 1, delivered_at = accord_now(), status_code = n.code, duration_ms = n.ms,
           error = NULL
      FROM open AS o JOIN unnest(${ids}::uuid[], ${codes}::int[], ${times}::int[]) AS n (id, code, ms) ON n.id = o.id
     WHERE d.id = o.id`);
}

/** Records a failed attempt: the delivery is due again after its wait, or is FAILED. */
export async function markFailed(tx: Queries, { row, ending, facts, ms, waitMs }: Attempt): Promise<void> {
  // After `gone` the webhook is paused: the delivery stays PENDING until the webhook is resumed.
  const status = ending === 'expired' || ending === 'refused' ? 'FAILED' : 'PENDING';
  await tx.query(sql`
    UPDATE deliveries AS d
       SET status = ${status}, attempts = d.attempts + 1, not_before = accord_now() + ${waitMs} * interval '1 millisecond',
           status_code = ${facts.statusCode}, duration_ms = ${ms}, error = ${facts.error}
     WHERE d.id = ${row.id} AND d.status = 'PENDING'`);
}

/**
 * Records a failure of a webhook's endpoint, and pauses the webhook if the endpoint is gone or has failed for
 * too long.
 * @returns whether the webhook is now paused.
 */
export async function recordFailure(
  tx: Queries,
  { row, ending, facts }: Attempt,
  { pauseAfterHours }: { pauseAfterHours: number },
): Promise<boolean> {
  const updated = await tx.maybeOne<{ paused: boolean }>(sql`
    WITH judged AS (
      SELECT w.id, w.state = 'ACTIVE'
             AND (${ending === 'gone'} OR w.failing_since <= accord_now() - ${pauseAfterHours} * interval '1 hour') IS TRUE AS paused
        FROM webhooks AS w WHERE w.id = ${row.webhook} FOR NO KEY UPDATE)
    UPDATE webhooks AS w
       SET failing_since = coalesce(w.failing_since, accord_now()),
           last_error = ${facts.error}, last_error_code = ${facts.statusCode}, last_error_at = accord_now(),
           state = CASE WHEN j.paused THEN 'PAUSED' ELSE w.state END,
           state_since = CASE WHEN j.paused THEN accord_now() ELSE w.state_since END
      FROM judged AS j
     WHERE w.id = j.id
    RETURNING j.paused`);
  return updated?.paused ?? false;
}
