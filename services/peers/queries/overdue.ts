import type { SendingPeer } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { DeliveryName } from '../domain/delivery.ts';

/**
 * No attempt is running: nobody has leased the queue, or the deadline passed so long ago that an attempt from before has ended or its result is
 * dropped. Replicas of the previous release lease each delivery.
 */
const isFree = sql`
  (d.lease_until IS NULL OR d.lease_until < now()) AND
  (d.deadline <= accord_now() - interval '30 seconds'
   OR NOT EXISTS (SELECT FROM queues AS q WHERE q.peer_url = d.peer_url AND q.lease_until > now()))`;

/** Ends parts and decisions whose time is over. @returns those that it has ended. */
export function endOverdue(tx: Queries, most: number): Promise<DeliveryName[]> {
  return tx.query(sql`
    DELETE FROM deliveries AS d USING (
      SELECT d.kind, d.peer_url, d.sid FROM deliveries AS d
       WHERE d.deadline <= accord_now() AND d.kind <> 'ask' AND ${isFree}
       ORDER BY d.deadline LIMIT ${most} FOR UPDATE SKIP LOCKED) AS over
     WHERE d.kind = over.kind AND d.peer_url = over.peer_url AND d.sid = over.sid
    RETURNING d.kind, d.peer_url AS url, d.sid`);
}

/** Decisions that were asked for in vain until their time was over, and a little longer. */
export function listUndecided(
  db: Queries,
  { minutes, most }: { minutes: number; most: number },
): Promise<{ sid: string; peer: SendingPeer }[]> {
  return db.query(sql`
    SELECT d.sid, jsonb_build_object('id', coalesce(p.id::text, ''), 'url', d.peer_url, 'name', coalesce(p.name, d.peer_url),
                                     'subjectPrefix', coalesce(p.subject_prefix, '')) AS peer
      FROM deliveries AS d LEFT JOIN peers AS p ON p.url = d.peer_url
     WHERE d.kind = 'ask' AND d.deadline <= accord_now() - ${minutes} * interval '1 minute' AND ${isFree}
     ORDER BY d.deadline LIMIT ${most}`);
}

/** The decision is known: nobody need ask for it. */
export async function forgetQuestion(db: Queries, { url, sid }: { url: string; sid: string }): Promise<void> {
  await db.query(sql`
    DELETE FROM deliveries AS d WHERE d.kind = 'ask' AND d.peer_url = ${url} AND d.sid = ${sid}`);
}

/** Parts that cannot be sent, because their peer is none any more or in quarantine, and of which nobody has asked how long they are to wait. */
export function listUndated(db: Queries, most: number): Promise<{ url: string; sid: string }[]> {
  return db.query(sql`
    SELECT d.peer_url AS url, d.sid FROM deliveries AS d LEFT JOIN peers AS p ON p.url = d.peer_url
     WHERE d.kind = 'submit' AND NOT d.deadline_known AND p.state IS DISTINCT FROM 'PAIRED' AND ${isFree}
     LIMIT ${most}`);
}

/** @param deadline null: there is nothing to send any more, and the part is ended. */
export async function dateDelivery(
  db: Queries,
  { url, sid }: { url: string; sid: string },
  deadline: string | null,
): Promise<void> {
  await db.query(
    deadline === null
      ? sql`DELETE FROM deliveries AS d WHERE d.kind = 'submit' AND d.peer_url = ${url} AND d.sid = ${sid} AND ${isFree}`
      : sql`UPDATE deliveries AS d SET deadline = ${deadline}::timestamptz, deadline_known = true
             WHERE d.kind = 'submit' AND d.peer_url = ${url} AND d.sid = ${sid}`,
  );
}
