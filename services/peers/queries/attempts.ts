import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type NewEvent, outboxRow } from '#lib/events/outbox.ts';
import type { Claim } from '../domain/delivery.ts';

/** What is kept of a peer's answer, and what transactions is told of it. */
export interface Answer {
  verdict: string;
  receipt: string;
  tell: NewEvent<'accord.peer-outcomes'> | undefined;
}

/**
 * It is over; a peer that has answered is one that works. One statement, so all of it is one COMMIT.
 * @param answer if there was one. @returns false if another process has it now, and its word counts.
 */
export async function endDelivery(
  db: Queries,
  { kind, url, sid, lease }: Claim,
  answer?: Answer,
): Promise<boolean> {
  const tell = answer?.tell
    ? sql`, told AS (${outboxRow('accord.peer-outcomes', answer.tell, sql`FROM ended`)})`
    : sql``;
  const ended = await db.query(sql`
    WITH ended AS (
           DELETE FROM deliveries AS d
            WHERE d.kind = ${kind} AND d.peer_url = ${url} AND d.sid = ${sid} AND d.lease = ${lease}
           RETURNING d.kind, d.peer_url, d.sid),
         kept AS (
           INSERT INTO receipts AS r (kind, peer_url, sid, verdict, receipt, received_at)
           SELECT e.kind, e.peer_url, e.sid, ${answer?.verdict}::text, ${answer?.receipt}::text, accord_now()
             FROM ended AS e WHERE ${answer !== undefined}::boolean
           ON CONFLICT (kind, peer_url, sid) DO UPDATE
              SET verdict = excluded.verdict, receipt = excluded.receipt, received_at = excluded.received_at),
         well AS (
           UPDATE queues AS q SET failures = 0, next_at = now()
            WHERE q.peer_url = ${url} AND q.failures > 0 AND ${answer !== undefined}::boolean) ${tell}
    SELECT e.sid FROM ended AS e`);
  return ended.length > 0;
}

/** The peer is well and has no answer yet: it is asked again later. */
export async function postponeDelivery(
  db: Queries,
  { kind, url, sid, lease }: Claim,
  waitMs: number,
): Promise<void> {
  await db.query(sql`
    WITH well AS (UPDATE queues AS q SET failures = 0, next_at = now() WHERE q.peer_url = ${url} AND q.failures > 0)
    UPDATE deliveries AS d
       SET attempts = d.attempts + 1, last_error = NULL, lease = NULL, lease_until = NULL,
           not_before = accord_now() + ${waitMs} * interval '1 millisecond'
     WHERE d.kind = ${kind} AND d.peer_url = ${url} AND d.sid = ${sid} AND d.lease = ${lease}`);
}

/**
 * In vain: this delivery comes after others, and the peer is left alone for a while, then given one at a time. What failed at the same time
 * counts as one failure. @param own it was not the peer's fault: the others wait, too, but the peer is not held to fail.
 */
export async function markFailed(
  db: Queries,
  { kind, url, sid, lease, failures }: Claim,
  {
    error,
    waitMs,
    peerWaitMs,
    own,
    deadline,
  }: { error: string; waitMs: number; peerWaitMs: number; own: boolean; deadline: string | undefined },
): Promise<void> {
  await db.query(sql`
    WITH line AS (
      UPDATE queues AS q
         SET failures = greatest(q.failures, ${own ? 0 : failures + 1}::int),
             next_at = greatest(q.next_at, now() + ${peerWaitMs} * interval '1 millisecond')
       WHERE q.peer_url = ${url})
    UPDATE deliveries AS d
       SET attempts = d.attempts + 1, last_error = ${error}, deadline = coalesce(${deadline}::timestamptz, d.deadline),
           deadline_known = d.deadline_known OR ${deadline !== undefined}::boolean, lease = NULL, lease_until = NULL,
           not_before = accord_now() + ${waitMs} * interval '1 millisecond'
     WHERE d.kind = ${kind} AND d.peer_url = ${url} AND d.sid = ${sid} AND d.lease = ${lease}`);
}

/** Gives a delivery back as if it had not been tried: the process ends before there was an answer. */
export async function giveBack(db: Queries, { kind, url, sid, lease }: Claim): Promise<void> {
  await db.query(sql`
    UPDATE deliveries AS d SET lease = NULL, lease_until = NULL
     WHERE d.kind = ${kind} AND d.peer_url = ${url} AND d.sid = ${sid} AND d.lease = ${lease}`);
}
