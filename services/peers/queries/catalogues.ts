import type { JWK } from 'jose';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';

/** A catalogue that this replica is to read, for as long as its lease runs. */
export interface ClaimedCatalogue {
  url: string;
  /** The state that the copy has. */
  state: string | null;
  lease: string;
  /** Whether it is a peer's: else the copy is to be forgotten. */
  paired: boolean;
  beganAt: Date;
}

/** What a peer's documents are judged by. */
export interface CatalogueKeys {
  name: string;
  signing: { kid: string; jwk: JWK }[];
  sealing: JWK;
}

/** Longer than reading may take (commands/refresh-catalogue.ts). */
const leaseSeconds = 90;
/** Each is read about once a minute, not all of them at the same second. */
const nextTime = sql`accord_now() + (45 + 15 * random()) * interval '1 second'`;

/**
 * Has a catalogue read from the beginning: after pairing. Or, if its peer is gone, its copy forgotten.
 * @param inSeconds at once if left out.
 */
export async function wantCatalogue(tx: Queries, url: string, inSeconds = 0): Promise<void> {
  await tx.query(sql`
    INSERT INTO catalogues AS c (url, due_at) VALUES (${url}, accord_now() + ${inSeconds} * interval '1 second')
    ON CONFLICT (url) DO UPDATE SET state = NULL, due_at = excluded.due_at, asked_again = true, failures = 0`);
}

/** Has a catalogue looked at soon: its peer says that it has changed. At most once a second, however often it says so. */
export async function hurryCatalogue(db: Queries, peer: string): Promise<void> {
  await db.query(sql`
    UPDATE catalogues AS c
       SET asked_again = true,
           due_at = least(c.due_at, greatest(accord_now(), coalesce(c.began_at, '-infinity') + interval '1 second'))
      FROM peers AS p WHERE p.id = ${peer} AND c.url = p.url`);
}

/** Has a catalogue read now that was never read. @returns whether there is anything to do. */
export async function hurryUnread(db: Queries, peer: string): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE catalogues AS c SET due_at = accord_now()
      FROM peers AS p
     WHERE p.id = ${peer} AND c.url = p.url AND c.state IS NULL AND c.failures = 0 AND c.due_at > accord_now()
    RETURNING c.url`);
  return rows.length > 0;
}

/** Leases catalogues that are due. Rows that another replica is about to lease are skipped, so that replicas share the work. */
export function claimCatalogues(db: Queries, most: number): Promise<ClaimedCatalogue[]> {
  return db.query<ClaimedCatalogue>(sql`
    UPDATE catalogues AS c
       SET lease = ${newUuid()}, lease_until = accord_now() + ${leaseSeconds} * interval '1 second', began_at = accord_now(),
           asked_again = false
      FROM (SELECT d.url, coalesce(p.state = 'PAIRED', false) AS paired
              FROM catalogues AS d LEFT JOIN peers AS p ON p.url = d.url
             WHERE d.due_at <= accord_now() AND (d.lease_until IS NULL OR d.lease_until < accord_now())
               AND p.state IS DISTINCT FROM 'QUARANTINED'
             ORDER BY d.due_at LIMIT ${most} FOR UPDATE OF d SKIP LOCKED) AS due
     WHERE c.url = due.url
    RETURNING c.url, c.state, c.lease, due.paired, c.began_at AS "beganAt"`);
}

/** The copy has this state. Asked for meanwhile: it is read once more. */
export async function releaseRead(
  db: Queries,
  { url, lease }: ClaimedCatalogue,
  state: string,
): Promise<void> {
  await db.query(sql`
    UPDATE catalogues AS c
       SET state = ${state}, read_at = accord_now(), failures = 0, lease = NULL, lease_until = NULL,
           due_at = CASE WHEN c.asked_again THEN greatest(accord_now(), c.began_at + interval '1 second') ELSE ${nextTime} END
     WHERE c.url = ${url} AND c.lease = ${lease}`);
}

/** It could not be read. One of which there is no copy yet is tried again sooner: its peer may not have finished pairing. */
export async function releaseFailed(db: Queries, { url, lease }: ClaimedCatalogue): Promise<void> {
  await db.query(sql`
    UPDATE catalogues AS c
       SET failures = c.failures + 1, lease = NULL, lease_until = NULL,
           due_at = CASE WHEN c.state IS NULL AND c.failures < 5 THEN accord_now() + power(2, c.failures) * interval '1 second'
                         ELSE ${nextTime} END
     WHERE c.url = ${url} AND c.lease = ${lease}`);
}

/** The copy is forgotten; if its peer has paired again meanwhile, it is read anew. */
export async function releaseForgotten(db: Queries, { url, lease }: ClaimedCatalogue): Promise<void> {
  await db.query(sql`
    WITH mine AS (
      UPDATE catalogues AS c SET state = NULL, due_at = accord_now(), lease = NULL, lease_until = NULL
       WHERE c.url = ${url} AND c.lease = ${lease} AND EXISTS (SELECT 1 FROM peers AS p WHERE p.url = c.url AND p.state <> 'ENDED')
      RETURNING c.url)
    DELETE FROM catalogues AS c WHERE c.url = ${url} AND c.lease = ${lease} AND NOT EXISTS (SELECT 1 FROM mine)`);
}

/** Pinned keys of a peer; undefined if it is paired no more. */
export async function readCatalogueKeys(db: Queries, url: string): Promise<CatalogueKeys | undefined> {
  const rows = await db.query<{ name: string; kid: string; use: 'sig' | 'enc'; jwk: JWK }>(sql`
    SELECT p.name, k.kid, k.use, k.jwk FROM peers AS p JOIN peer_keys AS k ON k.peer = p.id
     WHERE p.url = ${url} AND p.state = 'PAIRED' ORDER BY k.position`);
  const sealing = rows.find(({ use }) => use === 'enc');
  return (
    sealing && { name: sealing.name, sealing: sealing.jwk, signing: rows.filter(({ use }) => use === 'sig') }
  );
}

/** Peers that may be told that something has changed, and the state of our catalogue that each has. */
export function listPaired(db: Queries): Promise<{ id: string; url: string; shownState: string | null }[]> {
  return db.query(sql`
    SELECT p.id, p.url, p.shown_state AS "shownState" FROM peers AS p WHERE p.state = 'PAIRED'`);
}

/** The peer is given that state of our catalogue. */
export async function markShown(db: Queries, id: string, state: string): Promise<void> {
  await db.query(sql`
    UPDATE peers AS p SET shown_state = ${state} WHERE p.id = ${id} AND p.shown_state IS DISTINCT FROM ${state}`);
}
