import type { Decision, PeerSummary } from '#lib/contracts/parts.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Settlement } from '#lib/deliveries/delivery-kind.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import { type NewEvent, newEvent, outboxRows } from '#lib/events/outbox.ts';
import { currentTraceparent } from '#lib/observability/tracing.ts';
import {
  type AttemptFacts,
  type DeliveryName,
  type PeerDeliveryKind,
  type PeerRow,
  type Verdict,
  verdictsAbout,
} from '../domain/delivery.ts';

export interface NewDelivery extends DeliveryName {
  decision: Decision | null;
  /** Time of the event that caused the delivery (RFC 3339). */
  time: string;
  /** Delay after `time` before the first attempt. */
  waitSeconds: number;
  /** RFC 3339 */
  deadline: string;
}

/**
 * Queues a delivery; idempotent by event and by delivery. It is bound to the peer's pinned keys; if a change
 * of them is being stored, the statement waits for it. An instance that lists none of these keys does not get
 * the delivery. If no key is pinned, the next pairing at this address binds it (bindDeliveries).
 */
export async function queueDelivery(
  db: Queries,
  { kind, url, sid, decision, time, waitSeconds, deadline }: NewDelivery,
  event: { consumer: string; eventId: string },
): Promise<void> {
  await db.query(sql`
    WITH noted AS (${noteOnce(event)}),
         queue AS (INSERT INTO queues (peer_url) SELECT ${url}::text FROM noted ON CONFLICT DO NOTHING)
    INSERT INTO deliveries
      (kind, peer_url, sid, decision, pinned, not_before, deadline, traceparent, created_at)
    SELECT ${kind}, ${url}, ${sid}, ${decision},
           pinned_keys(${url}),
           greatest(accord_now(), ${time}::timestamptz + ${waitSeconds} * interval '1 second'),
           ${deadline}::timestamptz, ${currentTraceparent()}::text, accord_now()
      FROM noted
    ON CONFLICT (kind, peer_url, sid) DO NOTHING`);
}

/**
 * Binds waiting deliveries to new keys, also those that were queued while no key of the peer was pinned. Rows
 * are locked in the same order as by endDeliveries.
 * @param keys.from keys that vouch for the new ones. A delivery bound only to other keys stays as it is.
 */
export async function bindDeliveries(
  tx: Queries,
  url: string,
  { from, to }: { from: readonly string[]; to: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    WITH waiting AS (
           SELECT d.kind, d.peer_url, d.sid FROM deliveries AS d
            WHERE d.peer_url = ${url} AND (d.pinned && ${from}::text[] OR d.pinned = '{}')
            ORDER BY d.kind, d.peer_url, d.sid FOR UPDATE)
    UPDATE deliveries AS d SET pinned = ${to}::text[] FROM waiting AS w
     WHERE d.kind = w.kind AND d.peer_url = w.peer_url AND d.sid = w.sid`);
}

/** Locks deliveries in the order of bindDeliveries, before statements that change them one by one. */
export async function lockDeliveries(tx: Queries, names: readonly DeliveryName[]): Promise<void> {
  await tx.query(sql`
    SELECT FROM (SELECT * FROM unnest(${names.map(({ kind }) => kind)}::text[],
                                      ${names.map(({ url }) => url)}::text[],
                                      ${names.map(({ sid }) => sid)}::text[]) AS u (kind, url, sid)
                  ORDER BY u.kind, u.url, u.sid) AS g
     CROSS JOIN LATERAL (
           SELECT FROM deliveries AS d
            WHERE (d.kind, d.peer_url, d.sid) >= (g.kind, g.url, g.sid)
              AND (d.kind, d.peer_url, d.sid) <= (g.kind, g.url, g.sid) FOR UPDATE) AS l`);
}

/** The event that reports a verdict to transactions. */
export function verdictEvent(
  { kind, url, sid }: DeliveryName,
  verdict: Verdict,
  source: string,
): NewEvent<'accord.peer-outcomes'> {
  const data = { submission: sid, peer: url, about: verdictsAbout[kind], ...verdict };
  return { type: 'io.accord.submission.answered.v1', source, subject: sid, data };
}

/**
 * Deletes ended deliveries, stores their acknowledgements and writes the events of verdicts. The list is
 * passed as JSON, so that PostgreSQL keeps one plan for any length (ADR 14). Keys are compared as rows,
 * because only the index of the primary key supports that; with the index by peer PostgreSQL would read a
 * whole queue.
 */
export async function endDeliveries(
  tx: Queries,
  ended: readonly Settlement<PeerRow, AttemptFacts>[],
  source: string,
): Promise<void> {
  const given = ended.map(({ row: { kind, url, sid }, facts: { receipt, verdict }, traceparent }) => ({
    kind,
    url,
    sid,
    receipt: receipt?.jws,
    verdict: receipt?.verdict,
    event: verdict && {
      ...newEvent(verdictEvent({ kind, url, sid }, verdict, source)),
      ...(traceparent && { traceparent }),
    },
  }));
  const events = sql`(SELECT m.event FROM matched AS m WHERE m.event IS NOT NULL)`;
  await tx.query(sql`
    WITH given AS MATERIALIZED (
           SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
               AS g (kind text, url text, sid text, verdict text, receipt text, event jsonb)
            ORDER BY g.kind, g.url, g.sid),
         ended AS (
           DELETE FROM deliveries AS d
            WHERE d.ctid = ANY (ARRAY(
                  SELECT o.ctid FROM given AS g CROSS JOIN LATERAL (
                         SELECT d.ctid FROM deliveries AS d
                          WHERE (d.kind, d.peer_url, d.sid) >= (g.kind, g.url, g.sid)
                            AND (d.kind, d.peer_url, d.sid) <= (g.kind, g.url, g.sid)
                            FOR UPDATE) AS o))
           RETURNING d.kind, d.peer_url, d.sid),
         matched AS MATERIALIZED (
           SELECT g.* FROM ended AS e
             JOIN given AS g ON g.kind = e.kind AND g.url = e.peer_url AND g.sid = e.sid),
         stored AS (
           INSERT INTO acknowledgements AS r (kind, peer_url, sid, verdict, receipt, received_at)
           SELECT m.kind, m.url, m.sid, m.verdict, m.receipt, accord_now()
             FROM matched AS m WHERE m.receipt IS NOT NULL
           ON CONFLICT (kind, peer_url, sid) DO UPDATE
              SET verdict = excluded.verdict, receipt = excluded.receipt, received_at = excluded.received_at),
         published AS (${outboxRows('accord.peer-outcomes', events)})
    SELECT`);
}

/**
 * Schedules the next attempt of a delivery.
 * @param error undefined: the leader has not decided yet. @param isOwn whether this instance caused it.
 */
export async function postponeDelivery(
  tx: Queries,
  { kind, url, sid }: DeliveryName,
  { waitMs, error, isOwn }: { waitMs: number; error: string | undefined; isOwn: boolean },
): Promise<void> {
  if (error !== undefined && !isOwn)
    await tx.query(sql`UPDATE queues AS q SET last_error = ${error} WHERE q.peer_url = ${url}`);
  await tx.query(sql`
    UPDATE deliveries AS d
       SET attempts = d.attempts + 1, last_error = ${error ?? null},
           not_before = accord_now() + ${waitMs} * interval '1 millisecond'
     WHERE d.kind = ${kind} AND d.peer_url = ${url} AND d.sid = ${sid}`);
}

/**
 * Deletes deliveries past their deadline, except `ask`, while no attempt can be running: the queue is not
 * leased, or the deadline passed at least 30 seconds ago, which is longer than an attempt may take.
 * @returns the deleted deliveries.
 */
export function deleteOverdue(tx: Queries, limit: number): Promise<DeliveryName[]> {
  return tx.query(sql`
    DELETE FROM deliveries AS d USING (
      SELECT d.kind, d.peer_url, d.sid FROM deliveries AS d
       WHERE d.deadline <= accord_now() AND d.kind <> 'ask'
         AND (d.deadline <= accord_now() - interval '30 seconds'
              OR NOT EXISTS (SELECT FROM queues AS q WHERE q.peer_url = d.peer_url AND q.lease_until > now()))
       ORDER BY d.deadline LIMIT ${limit} FOR UPDATE SKIP LOCKED) AS over
     WHERE d.kind = over.kind AND d.peer_url = over.peer_url AND d.sid = over.sid
    RETURNING d.kind, d.peer_url AS url, d.sid`);
}

/** Lists held parts whose `ask` deadline passed at least `minutes` ago. */
export function listUndecided(
  db: Queries,
  { minutes, limit }: { minutes: number; limit: number },
): Promise<{ sid: string; peer: PeerSummary }[]> {
  return db.query(sql`
    SELECT d.sid, jsonb_build_object('id', coalesce(p.id::text, ''), 'url', d.peer_url,
                                     'name', coalesce(p.name, d.peer_url),
                                     'subjectPrefix', coalesce(p.subject_prefix, '')) AS peer
      FROM deliveries AS d LEFT JOIN peers AS p ON p.url = d.peer_url
     WHERE d.kind = 'ask' AND d.deadline <= accord_now() - ${minutes} * interval '1 minute'
     ORDER BY d.deadline LIMIT ${limit}`);
}

/** Deletes the delivery that asks for the decision about a part. */
export async function stopAsking(db: Queries, { url, sid }: { url: string; sid: string }): Promise<void> {
  await db.query(sql`
    DELETE FROM deliveries AS d WHERE d.kind = 'ask' AND d.peer_url = ${url} AND d.sid = ${sid}`);
}

/** Restarts the wait after which an undecided part is rolled back. */
export async function deferRollback(db: Queries, { url, sid }: { url: string; sid: string }): Promise<void> {
  await db.query(sql`
    UPDATE deliveries AS d SET deadline = accord_now()
     WHERE d.kind = 'ask' AND d.peer_url = ${url} AND d.sid = ${sid}`);
}

/** Deliveries that wait for each peer, except `ask`; longest backlog first. */
export function listBacklogs(
  db: Queries,
  { limit }: { limit: number },
): Promise<{ peer: string; rows: number; oldestSeconds: number; failures: number }[]> {
  return db.query(sql`
    SELECT p.id AS peer, w.rows, w.oldest AS "oldestSeconds", coalesce(q.failures, 0) AS failures
      FROM peers AS p LEFT JOIN queues AS q ON q.peer_url = p.url
     CROSS JOIN LATERAL (
           SELECT count(*)::int AS rows,
                  coalesce(extract(epoch FROM accord_now() - min(d.created_at)), 0)::float8 AS oldest
             FROM (SELECT d.created_at FROM deliveries AS d
                    WHERE d.peer_url = p.url AND d.kind <> 'ask' LIMIT 100000) AS d) AS w
     ORDER BY w.rows DESC, p.id LIMIT ${limit}`);
}

/**
 * Number of deliveries to paired peers by kind, and how long the oldest due one has waited. Looks at 100,000
 * deliveries at most.
 */
export function waitingDeliveries(
  db: Queries,
): Promise<{ kind: `peer-${PeerDeliveryKind}`; rows: number; oldestSeconds: number }[]> {
  return db.query(sql`
    SELECT 'peer-' || k.kind AS kind, count(d.kind)::int AS rows,
           coalesce(extract(epoch FROM accord_now()
                            - min(d.not_before) FILTER (WHERE d.not_before <= accord_now())), 0)::float8
             AS "oldestSeconds"
      FROM unnest(ARRAY['submit', 'decide', 'ask', 'withdraw', 'erase']) AS k (kind)
      LEFT JOIN (SELECT d.kind, d.not_before FROM deliveries AS d JOIN peers AS p ON p.url = d.peer_url
                  WHERE p.state = 'PAIRED' LIMIT 100000) AS d ON d.kind = k.kind
     GROUP BY k.kind`);
}
