import type { Decision } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { mayBeLost } from '#lib/db/may-be-lost.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { noteOnce } from '#lib/events/inbox.ts';
import type { Claim, DeliveryKind, DeliveryName } from '../domain/delivery.ts';

/** At most so many attempts at once to one peer, by all replicas together (federation.md, "Answers", 7). */
const placesPerPeer = 4;

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
         line AS (INSERT INTO queues (peer_url) SELECT ${url}::text FROM noted ON CONFLICT DO NOTHING RETURNING peer_url),
         made AS (INSERT INTO places (peer_url, place)
                  SELECT line.peer_url, n FROM line, generate_series(1, ${placesPerPeer}::int) AS n)
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

/**
 * The next deliveries for whoever has this place: a lease and not a lock, because nothing is sent inside a transaction. It also prolongs the
 * hold on the place. While the peer fails, no more than one. None: there is nothing due, the peer is to be left alone, or the place is lost.
 */
export function claimDeliveries(
  db: Queries,
  { url, place, lease, leaseSeconds, most }: Place & { leaseSeconds: number; most: number },
): Promise<Claim[]> {
  const until = sql`now() + ${leaseSeconds} * interval '1 second'`;
  return db.query<Claim>(sql`
    WITH held AS (
           UPDATE places AS s SET lease_until = ${until}
            WHERE s.peer_url = ${url} AND s.place = ${place} AND s.lease = ${lease} AND s.lease_until > now()
           RETURNING s.peer_url),
         line AS (
           SELECT q.failures, p.url, k.kids, k.keys,
                  jsonb_build_object('id', p.id, 'url', p.url, 'name', p.name, 'subjectPrefix', p.subject_prefix) AS peer
             FROM held JOIN queues AS q USING (peer_url) JOIN peers AS p ON p.url = q.peer_url
            CROSS JOIN LATERAL (
                  SELECT array_agg(k.kid) AS kids, jsonb_agg(jsonb_build_object('kid', k.kid, 'jwk', k.jwk)) AS keys
                    FROM peer_keys AS k WHERE k.peer = p.id AND k.use = 'sig') AS k
            WHERE p.state = 'PAIRED' AND q.next_at <= now() AND (q.failures = 0 OR ${place} = 1)),
         next AS MATERIALIZED (
           SELECT n.kind, n.peer_url, n.sid, l.peer, l.keys, l.failures
             FROM line AS l
            CROSS JOIN LATERAL (
                  SELECT d.kind, d.peer_url, d.sid FROM deliveries AS d
                   WHERE d.peer_url = l.url AND ${isDue(sql`l.kids`)}
                   ORDER BY d.not_before
                   LIMIT CASE WHEN l.failures > 0 THEN 1 ELSE ${most}::int END FOR UPDATE SKIP LOCKED) AS n)
    UPDATE deliveries AS d SET lease = ${lease}, lease_until = ${until}
      FROM next AS n
     WHERE d.kind = n.kind AND d.peer_url = n.peer_url AND d.sid = n.sid AND ${mayBeLost}
    RETURNING d.kind, d.peer_url AS url, d.sid, d.lease, d.decision, d.attempts, n.failures, d.deadline <= accord_now() AS overdue,
              n.peer, n.keys AS signing`);
}

/**
 * What may be attempted, of the peer's keys `kids`; what its deadline ends elsewhere is not begun any more (end-overdue.ts). A CASE, because
 * PostgreSQL takes such conditions for rarely true, and would rather sort a long queue than walk along its index.
 */
const isDue = (kids: Statement) => sql`d.not_before <= accord_now() AND
  CASE WHEN d.lease_until >= now() THEN false WHEN d.kind <> 'ask' AND d.deadline <= accord_now() THEN false ELSE d.pinned && ${kids} END`;

/** A place in a peer's queue that this process holds. */
export interface Place {
  url: string;
  place: number;
  lease: string;
}

/** One that was taken just now. */
export interface TakenPlace extends Place {
  /** More was due than places were taken for. */
  isMore: boolean;
}

/**
 * Takes places where something is due: no more of a peer than there is due to it, one while it fails, and those that work before those that
 * fail. A place that another process is about to take is skipped, so there are never more than there are places.
 */
export async function claimPlaces(
  db: Queries,
  { lease, leaseSeconds, most }: { lease: string; leaseSeconds: number; most: number },
): Promise<TakenPlace[]> {
  const places = await db.query<Place & { due: number }>(sql`
    WITH free AS MATERIALIZED (
      SELECT f.peer_url, f.place, q.due
        FROM (SELECT q.peer_url, q.failures, w.due
                FROM queues AS q JOIN peers AS p ON p.url = q.peer_url
               CROSS JOIN LATERAL (SELECT ARRAY(SELECT k.kid FROM peer_keys AS k WHERE k.peer = p.id AND k.use = 'sig') AS kids) AS k
               CROSS JOIN LATERAL (
                     SELECT count(*)::int AS due
                       FROM (SELECT 1 FROM deliveries AS d
                              WHERE d.peer_url = q.peer_url AND ${isDue(sql`k.kids`)} LIMIT ${placesPerPeer}) AS d) AS w
               WHERE p.state = 'PAIRED' AND q.next_at <= now() AND w.due > 0
               ORDER BY q.failures > 0, random()) AS q
       CROSS JOIN LATERAL (
             SELECT s.peer_url, s.place FROM places AS s
              WHERE s.peer_url = q.peer_url AND (s.lease_until IS NULL OR s.lease_until < now())
                AND s.place <= CASE WHEN q.failures > 0 THEN 1 ELSE ${placesPerPeer} END
              ORDER BY s.place LIMIT q.due FOR UPDATE SKIP LOCKED) AS f
       LIMIT ${most})
    UPDATE places AS s SET lease = ${lease}, lease_until = now() + ${leaseSeconds} * interval '1 second'
      FROM free AS f WHERE s.peer_url = f.peer_url AND s.place = f.place
    RETURNING s.peer_url AS url, s.place, s.lease, f.due`);
  const taken = (url: string) => places.filter((place) => place.url === url).length;
  return places.map(({ due, ...place }) => ({
    ...place,
    isMore: due === placesPerPeer || due > taken(place.url),
  }));
}

export async function releasePlace(db: Queries, { url, place, lease }: Place): Promise<void> {
  await db.query(sql`
    UPDATE places AS s SET lease = NULL, lease_until = NULL
     WHERE s.peer_url = ${url} AND s.place = ${place} AND s.lease = ${lease}`);
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
