import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type NewEvent, newEvent, outboxRows } from '#lib/events/outbox.ts';
import type { DeliveryName } from '../domain/delivery.ts';

/** A delivery that has ended. Without a verdict there was nothing to send. */
export interface Ending {
  delivery: DeliveryName;
  /** What the peer said, and its signed receipt. */
  answer?: { verdict: string; receipt: string };
  /** What transactions learns of it. */
  event?: NewEvent<'accord.peer-outcomes'>;
}

/**
 * Ends deliveries: keeps their receipts and tells transactions. The deliveries are passed as JSON, so that PostgreSQL keeps one plan however
 * many there are (ADR 14). Their names are compared as rows, because only the primary key supports that: the index by peer would mean to
 * read a whole queue.
 */
export async function endDeliveries(tx: Queries, endings: readonly Ending[]): Promise<void> {
  const given = endings.map(({ delivery: { kind, url, sid }, answer, event }) => ({
    ...{ kind, url, sid, verdict: answer?.verdict, receipt: answer?.receipt },
    event: event && newEvent(event),
  }));
  await tx.query(sql`
    WITH given AS MATERIALIZED (
           SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
               AS g (kind text, url text, sid text, verdict text, receipt text, event jsonb)),
         ended AS (
           DELETE FROM deliveries AS d
            WHERE d.ctid = ANY (ARRAY(
                  SELECT o.ctid FROM given AS g CROSS JOIN LATERAL (
                         SELECT d.ctid FROM deliveries AS d
                          WHERE (d.kind, d.peer_url, d.sid) >= (g.kind, g.url, g.sid) AND (d.kind, d.peer_url, d.sid) <= (g.kind, g.url, g.sid)
                            FOR UPDATE) AS o))
           RETURNING d.kind, d.peer_url, d.sid),
         ours AS MATERIALIZED (
           SELECT g.* FROM ended AS e JOIN given AS g ON g.kind = e.kind AND g.url = e.peer_url AND g.sid = e.sid),
         kept AS (
           INSERT INTO receipts AS r (kind, peer_url, sid, verdict, receipt, received_at)
           SELECT o.kind, o.url, o.sid, o.verdict, o.receipt, accord_now() FROM ours AS o WHERE o.verdict IS NOT NULL
           ON CONFLICT (kind, peer_url, sid) DO UPDATE
              SET verdict = excluded.verdict, receipt = excluded.receipt, received_at = excluded.received_at),
         told AS (${outboxRows('accord.peer-outcomes', sql`(SELECT o.event FROM ours AS o WHERE o.event IS NOT NULL)`)})
    SELECT`);
}

/** The delivery is due again later. @param facts.error null: the peer works and has not decided yet. */
export async function postponeDelivery(
  tx: Queries,
  { kind, url, sid }: DeliveryName,
  { waitMs, error, deadline }: { waitMs: number; error: string | null; deadline: string | undefined },
): Promise<void> {
  await tx.query(sql`
    UPDATE deliveries AS d
       SET attempts = d.attempts + 1, last_error = ${error}, deadline = coalesce(${deadline}::timestamptz, d.deadline),
           deadline_known = d.deadline_known OR ${deadline !== undefined}::boolean, lease = NULL, lease_until = NULL,
           not_before = accord_now() + ${waitMs} * interval '1 millisecond'
     WHERE d.kind = ${kind} AND d.peer_url = ${url} AND d.sid = ${sid}`);
}
