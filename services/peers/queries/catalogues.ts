import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';

/** A catalogue that this process may read until its lease expires. */
export interface ClaimedCatalogue {
  url: string;
  /** The state of our copy. */
  state: string | null;
  lease: string;
  /** Whether the peer is paired, perhaps in quarantine; otherwise the copy is deleted. */
  paired: boolean;
  beganAt: Date;
}

/** Longer than a refresh may take (jobs/refresh-catalogues.ts). */
const leaseSeconds = 90;
/** About a minute, with jitter so that reads spread out. */
const nextTime = sql`accord_now() + (45 + 15 * random()) * interval '1 second'`;

/** Schedules a full read, or the deletion of the copy if the peer is gone. @param inSeconds delay. */
export async function scheduleFullRead(tx: Queries, url: string, inSeconds = 0): Promise<void> {
  await tx.query(sql`
    INSERT INTO catalogues AS c (url, due_at)
    VALUES (${url}, accord_now() + ${inSeconds} * interval '1 second')
    ON CONFLICT (url) DO UPDATE 
       SET state = NULL, due_at = excluded.due_at, asked_again = true, full_again = true, failures = 0`);
}

/** Schedules a read because the peer announced a change: at most one read a second. */
export async function scheduleSoon(db: Queries, url: string): Promise<void> {
  await db.query(sql`
    UPDATE catalogues AS c
       SET asked_again = true,
           due_at = least(c.due_at, greatest(accord_now(),
                                             coalesce(c.began_at, '-infinity') + interval '1 second'))
     WHERE c.url = ${url}`);
}

/** Schedules the first read of a catalogue for now. @returns false if it was attempted before or is due. */
export async function scheduleFirstRead(db: Queries, url: string): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE catalogues AS c SET due_at = accord_now()
     WHERE c.url = ${url} AND c.state IS NULL AND c.failures = 0 AND c.due_at > accord_now()
    RETURNING c.url`);
  return rows.length > 0;
}

/** Leases due catalogues. Rows that another process is leasing are skipped (SKIP LOCKED). */
export function claimCatalogues(db: Queries, limit: number): Promise<ClaimedCatalogue[]> {
  return db.query<ClaimedCatalogue>(sql`
    UPDATE catalogues AS c
       SET lease = ${newUuid()}, lease_until = accord_now() + ${leaseSeconds} * interval '1 second',
           began_at = accord_now(), asked_again = false, full_again = false
      FROM (SELECT d.url, coalesce(p.state <> 'ENDED', false) AS paired
              FROM catalogues AS d LEFT JOIN peers AS p ON p.url = d.url
             WHERE d.due_at <= accord_now() AND (d.lease_until IS NULL OR d.lease_until < accord_now())
             ORDER BY d.due_at LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED) AS due
     WHERE c.url = due.url
    RETURNING c.url, c.state, c.lease, due.paired, c.began_at AS "beganAt"`);
}

/**
 * Records the state of our copy, and its size unless it is unchanged. A read that was requested meanwhile is
 * due at once, and is a full one if that was requested (`scheduleFullRead`).
 */
export async function releaseRead(
  db: Queries,
  { url, lease }: ClaimedCatalogue,
  { state, size }: { state: string; size: number | undefined },
): Promise<void> {
  await db.query(sql`
    UPDATE catalogues AS c
       SET state = CASE WHEN c.full_again THEN NULL ELSE ${state} END,
           size = coalesce(${size}::int, c.size), read_at = accord_now(), failures = 0,
           lease = NULL, lease_until = NULL,
           due_at = CASE WHEN c.asked_again THEN greatest(accord_now(), c.began_at + interval '1 second')
                         ELSE ${nextTime} END
     WHERE c.url = ${url} AND c.lease = ${lease}`);
}

/** Records a failed read. First reads are retried sooner: the peer may not have finished pairing. */
export async function releaseFailed(db: Queries, { url, lease }: ClaimedCatalogue): Promise<void> {
  await db.query(sql`
    UPDATE catalogues AS c
       SET failures = c.failures + 1, lease = NULL, lease_until = NULL,
           due_at = CASE WHEN c.state IS NULL AND c.failures < 5
                         THEN accord_now() + power(2, c.failures) * interval '1 second'
                         ELSE ${nextTime} END
     WHERE c.url = ${url} AND c.lease = ${lease}`);
}

/** Deletes the row of a deleted copy, unless the peer has paired again: then its catalogue is read soon. */
export async function releaseForgotten(db: Queries, claimed: ClaimedCatalogue): Promise<void> {
  await db.query(sql`
    DELETE FROM catalogues AS c
     WHERE c.url = ${claimed.url} AND c.lease = ${claimed.lease}
       AND NOT EXISTS (SELECT FROM peers AS p WHERE p.url = c.url AND p.state <> 'ENDED')`);
  await releaseFailed(db, claimed);
}

/** A paired peer, and what it has received of us last. */
export interface InformedPeer {
  id: string;
  url: string;
  /** State of our catalogue. */
  sentState: string | null;
  /** Thumbprint of our newest signing key that it has accepted. */
  knownKid: string | null;
}

export function listPaired(db: Queries): Promise<InformedPeer[]> {
  return db.query(sql`
    SELECT p.id, p.url, p.shown_state AS "sentState", p.knows_kid AS "knownKid"
      FROM peers AS p WHERE p.state = 'PAIRED'`);
}

/** Records the state of our catalogue that a peer receives. */
export async function markSent(db: Queries, id: string, state: string): Promise<void> {
  await db.query(sql`
    UPDATE peers AS p SET shown_state = ${state}
     WHERE p.id = ${id} AND p.shown_state IS DISTINCT FROM ${state}`);
}
