import type { Decision } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import type { DeliveryKind, DeliveryName } from '../domain/delivery.ts';

export interface NewDelivery extends DeliveryName {
  decision: Decision | null;
  /** When the event happened that it comes from (RFC 3339). */
  time: string;
  /** So long after it there is nothing to do yet. */
  waitSeconds: number;
  /** So long after it there is nothing to do any more. */
  hours: number;
}

/**
 * Queues a delivery, once for an event and once at all. The peer's keys are noted: it goes to whom it was meant for, or nowhere.
 * @param told the event by which it is known.
 */
export async function queueDelivery(
  db: Queries,
  delivery: NewDelivery,
  told: { consumer: string; eventId: string },
): Promise<void> {
  const { kind, url, sid, decision, time, waitSeconds, hours } = delivery;
  await db.query(sql`
    WITH noted AS (${noteOnce(told)}),
         line AS (INSERT INTO queues (peer_url) SELECT ${url}::text FROM noted ON CONFLICT DO NOTHING)
    INSERT INTO deliveries (kind, peer_url, sid, decision, pinned, not_before, deadline, deadline_known, created_at)
    SELECT ${kind}, ${url}, ${sid}, ${decision}, ${pinnedKeysOf(url)},
           greatest(accord_now(), ${time}::timestamptz + ${waitSeconds} * interval '1 second'),
           ${time}::timestamptz + ${hours} * interval '1 hour', ${kind !== 'submit'}::boolean, accord_now()
      FROM noted
    ON CONFLICT (kind, peer_url, sid) DO NOTHING`);
}

const pinnedKeysOf = (url: string) => sql`
  ARRAY(SELECT k.kid FROM peer_keys AS k JOIN peers AS p ON p.id = k.peer WHERE p.url = ${url} AND k.use = 'sig')`;

/** What waits for a peer goes to its new keys, too: its old ones, or an administrator, have vouched for them. In the order of endDeliveries. */
export async function followKeys(
  tx: Queries,
  url: string,
  { from, to }: { from: readonly string[]; to: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    WITH waiting AS (
           SELECT d.kind, d.peer_url, d.sid FROM deliveries AS d WHERE d.peer_url = ${url} AND d.pinned && ${from}::text[]
            ORDER BY d.kind, d.peer_url, d.sid FOR UPDATE)
    UPDATE deliveries AS d SET pinned = ${to}::text[] FROM waiting AS w
     WHERE d.kind = w.kind AND d.peer_url = w.peer_url AND d.sid = w.sid`);
}

/** How many parts and decisions wait for each peer, and for how long; those with the most first. */
export function listBacklogs(
  db: Queries,
  { most }: { most: number },
): Promise<{ peer: string; rows: number; oldestSeconds: number; failures: number }[]> {
  return db.query(sql`
    SELECT p.id AS peer, w.rows, w.oldest AS "oldestSeconds", coalesce(q.failures, 0) AS failures
      FROM peers AS p LEFT JOIN queues AS q ON q.peer_url = p.url
     CROSS JOIN LATERAL (
           SELECT count(*)::int AS rows, coalesce(extract(epoch FROM accord_now() - min(d.created_at)), 0)::float8 AS oldest
             FROM (SELECT d.created_at FROM deliveries AS d WHERE d.peer_url = p.url AND d.kind <> 'ask' LIMIT 100000) AS d) AS w
     ORDER BY w.rows DESC, p.id LIMIT ${most}`);
}

/** What metrics say of deliveries by kind: how many there are that may be made, and how long the oldest that is due has waited. */
export function waitingDeliveries(
  db: Queries,
): Promise<{ kind: `peer-${DeliveryKind}`; rows: number; oldestSeconds: number }[]> {
  return db.query(sql`
    SELECT 'peer-' || k.kind AS kind, count(d.kind)::int AS rows,
           coalesce(extract(epoch FROM accord_now() - min(d.not_before) FILTER (WHERE d.not_before <= accord_now())), 0)::float8 AS "oldestSeconds"
      FROM unnest(ARRAY['submit', 'decide', 'ask']) AS k (kind)
      LEFT JOIN (SELECT d.kind, d.not_before FROM deliveries AS d JOIN peers AS p ON p.url = d.peer_url
                  WHERE p.state = 'PAIRED' LIMIT 100000) AS d ON d.kind = k.kind
     GROUP BY k.kind`);
}
