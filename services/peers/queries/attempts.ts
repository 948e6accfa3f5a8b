import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type NewEvent, newEvent, outboxRows } from '#lib/events/outbox.ts';
import type { Claim, DeliveryName } from '../domain/delivery.ts';

/** What is kept of a peer's answer, and what transactions is told of it. */
export interface Answer {
  verdict: string;
  receipt: string;
  tell: NewEvent<'accord.peer-outcomes'> | undefined;
}

/** A delivery that is over. Without an answer there was nothing to be done. */
export interface Ending {
  claim: DeliveryName & { lease: string };
  answer?: Answer;
}

/**
 * They are over; a peer that has answered is one that works. One statement, so all of it is one COMMIT. What another process has now is
 * left out: its word counts. Given as JSON and found by `ctid`, for PostgreSQL then keeps its plan, however many there are; making it takes
 * longer than all the rest. Names are compared as a whole, because only the primary key can do that: while there are no deliveries, the index
 * by peer seems as good, and later that means to read all of a peer's.
 */
export async function endDeliveries(db: Queries, endings: readonly Ending[]): Promise<void> {
  const given = inOrder(endings).map(({ claim: { kind, url, sid, lease }, answer }) => ({
    ...{ kind, url, sid, lease, verdict: answer?.verdict, receipt: answer?.receipt },
    event: answer?.tell && newEvent(answer.tell),
  }));
  await db.query(sql`
    WITH given AS MATERIALIZED (
           SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
               AS g (kind text, url text, sid text, lease uuid, verdict text, receipt text, event jsonb)),
         ended AS (
           DELETE FROM deliveries AS d
            WHERE d.ctid = ANY (ARRAY(
                  SELECT o.ctid FROM given AS g CROSS JOIN LATERAL (
                         SELECT d.ctid FROM deliveries AS d
                          WHERE (d.kind, d.peer_url, d.sid) >= (g.kind, g.url, g.sid) AND (d.kind, d.peer_url, d.sid) <= (g.kind, g.url, g.sid)
                            AND d.lease = g.lease FOR UPDATE) AS o))
           RETURNING d.kind, d.peer_url, d.sid),
         ours AS MATERIALIZED (
           SELECT g.* FROM ended AS e JOIN given AS g ON g.kind = e.kind AND g.url = e.peer_url AND g.sid = e.sid),
         kept AS (
           INSERT INTO receipts AS r (kind, peer_url, sid, verdict, receipt, received_at)
           SELECT o.kind, o.url, o.sid, o.verdict, o.receipt, accord_now() FROM ours AS o WHERE o.verdict IS NOT NULL
           ON CONFLICT (kind, peer_url, sid) DO UPDATE
              SET verdict = excluded.verdict, receipt = excluded.receipt, received_at = excluded.received_at),
         well AS (
           UPDATE queues AS q SET failures = 0, next_at = now()
            WHERE q.peer_url IN (
                  SELECT w.peer_url FROM queues AS w
                   WHERE w.failures > 0 AND w.peer_url IN (SELECT g.url FROM given AS g WHERE g.verdict IS NOT NULL)
                   ORDER BY w.peer_url FOR UPDATE)),
         told AS (${outboxRows('accord.peer-outcomes', sql`(SELECT o.event FROM ours AS o WHERE o.event IS NOT NULL)`)})
    SELECT`);
}

/** Always in one order, so that nobody who locks several waits for somebody who waits for them. */
function inOrder(endings: readonly Ending[]): Ending[] {
  const nameOf = ({ claim: { kind, url, sid } }: Ending) => `${kind} ${url} ${sid}`;
  return [...endings].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
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

/** Gives deliveries back as if they had not been tried. */
export async function giveBack(db: Queries, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await db.query(sql`
    UPDATE deliveries AS d SET lease = NULL, lease_until = NULL
      FROM unnest(${claims.map(({ kind }) => kind)}::text[], ${claims.map(({ url }) => url)}::text[],
                  ${claims.map(({ sid }) => sid)}::text[], ${claims.map(({ lease }) => lease)}::uuid[]) AS c (kind, url, sid, lease)
     WHERE d.kind = c.kind AND d.peer_url = c.url AND d.sid = c.sid AND d.lease = c.lease`);
}
