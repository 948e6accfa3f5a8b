import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import type { ListedPeer, Peer } from '../domain/peer.ts';
import type { PeerKey } from '../domain/read-description.ts';

const columns = sql`p.id, p.url, p.name, p.state, p.subject_prefix AS "subjectPrefix", p.version,
  ARRAY(SELECT k.kid FROM peer_keys AS k WHERE k.peer = p.id AND k.use = 'sig' ORDER BY k.position) AS thumbprints,
  CASE WHEN p.announced IS NOT NULL
       THEN ARRAY(SELECT a->>'kid' FROM jsonb_array_elements(p.announced) AS a WHERE a->>'use' = 'sig') END AS announced,
  p.created_at AS "createdAt", p.modified_at AS "modifiedAt", p.last_contact_at AS "lastContactAt"`;

/** For people: counting takes too long for every message of a peer. */
const backlog = sql`
  (SELECT count(*)::int FROM (SELECT 1 FROM deliveries AS d WHERE d.peer_url = p.url AND d.kind <> 'ask' LIMIT 100000) AS d) AS backlog`;

/** Peers, newest first, after a position. */
export function listPeers(
  db: Queries,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(ListedPeer & { position: string })[]> {
  const from = after
    ? sql`WHERE (p.created_at, p.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, ${backlog}, p.created_at::text AS position FROM peers AS p ${from}
     ORDER BY p.created_at DESC, p.id DESC LIMIT ${limit}`);
}

export function findPeer(db: Queries, id: string): Promise<ListedPeer | undefined> {
  return db.maybeOne(sql`SELECT ${columns}, ${backlog} FROM peers AS p WHERE p.id = ${id}`);
}

export function findPeerByUrl(db: Queries, url: string): Promise<Peer | undefined> {
  return db.maybeOne(sql`SELECT ${columns} FROM peers AS p WHERE p.url = ${url}`);
}

/** Locks a peer's row until the end of the transaction. */
export async function lockPeer(tx: Queries, id: string): Promise<Peer | undefined> {
  const locked = await tx.maybeOne<object>(sql`SELECT p.id FROM peers AS p WHERE p.id = ${id} FOR UPDATE`);
  return locked && tx.one<Peer>(sql`SELECT ${columns} FROM peers AS p WHERE p.id = ${id}`);
}

/** Makes the peer of an address, or renews it. @returns its id and version, and whether it is new. */
export function savePairedPeer(
  tx: Queries,
  { id, url, name }: { id: string; url: string; name: string },
): Promise<{ id: string; version: number; isNew: boolean }> {
  return tx.one(sql`
    INSERT INTO peers AS p (id, url, name, state, version, created_at, modified_at, described_at, last_contact_at)
    VALUES (${id}, ${url}, ${name}, 'PAIRED', 1, accord_now(), accord_now(), accord_now(), accord_now())
    ON CONFLICT (url) DO UPDATE
       SET name = excluded.name, state = 'PAIRED', announced = NULL, version = p.version + 1,
           modified_at = accord_now(), described_at = accord_now(), last_contact_at = accord_now()
    RETURNING p.id, p.version, p.id = ${id} AS "isNew"`);
}

/**
 * Pins these keys of a peer and no others. Another peer may list the same public keys: a key is looked up together with the peer that is
 * said to have signed, so whoever lists a key without having it gains nothing, and its owner loses nothing.
 */
export async function pinKeys(tx: Queries, peer: string, keys: readonly PeerKey[]): Promise<void> {
  await tx.query(sql`DELETE FROM peer_keys AS k WHERE k.peer = ${peer}`);
  await tx.query(sql`
    INSERT INTO peer_keys (kid, peer, use, position, jwk)
    SELECT k.value->>'kid', ${peer}::uuid, k.value->>'use', k.ordinality, k.value->'jwk'
      FROM jsonb_array_elements(${JSON.stringify(keys)}::jsonb) WITH ORDINALITY AS k (value, ordinality)`);
}

/** A pinned signing key of the peer at a base URL; the keys of ended pairings are deleted. */
export function findPinnedKey(
  db: Queries,
  { url, kid }: { url: string; kid: string },
): Promise<{ jwk: PeerKey['jwk'] } | undefined> {
  return db.maybeOne(sql`
    SELECT k.jwk FROM peer_keys AS k JOIN peers AS p ON p.id = k.peer
     WHERE p.url = ${url} AND k.kid = ${kid} AND k.use = 'sig'`);
}

/** The ids of all peers, ended pairings included, and when this was so. */
export function listPeerIds(db: Queries): Promise<{ ids: string[]; asOf: string }> {
  return db.one(sql`
    SELECT ARRAY(SELECT p.id::text FROM peers AS p) AS ids, to_json(now())#>>'{}' AS "asOf"`);
}

/** Ends a pairing: its keys are trusted no more. @returns the new version. */
export async function endPeer(tx: Queries, id: string): Promise<number> {
  await tx.query(sql`DELETE FROM peer_keys AS k WHERE k.peer = ${id}`);
  const { version } = await tx.one<{ version: number }>(sql`
    UPDATE peers AS p SET state = 'ENDED', announced = NULL, version = p.version + 1, modified_at = accord_now()
     WHERE p.id = ${id} RETURNING p.version`);
  return version;
}

export async function deletePeer(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM peers AS p WHERE p.id = ${id}`);
}

export async function setSubjectPrefix(tx: Queries, id: string, prefix: string): Promise<void> {
  await tx.query(sql`
    UPDATE peers AS p SET subject_prefix = ${prefix}, version = p.version + 1, modified_at = accord_now()
     WHERE p.id = ${id}`);
}

/** It has answered. */
export async function touchPeerByUrl(db: Queries, url: string): Promise<void> {
  await db.query(sql`
    WITH ${hurried(sql`p.url = ${url}`)}
    UPDATE peers AS p SET last_contact_at = accord_now() WHERE p.url = ${url}`);
}

/** It has asked. */
export async function touchPeer(db: Queries, id: string): Promise<void> {
  await db.query(sql`
    WITH ${hurried(sql`p.id = ${id}`)}
    UPDATE peers AS p SET last_contact_at = accord_now()
     WHERE p.id = ${id} AND ${isQuiet}`);
}

/** It is not noted for every message when a peer was heard of. */
export const isQuiet = sql`(p.last_contact_at IS NULL OR p.last_contact_at < accord_now() - interval '10 seconds')`;

/**
 * What waits for a peer that was away is tried soon after it is heard of, and not when the longest wait is over (back-off.ts). One at a time
 * and no oftener than after a first failure: being heard of is no proof that it takes parts.
 */
export const hurried = (isPeer: Statement) => sql`line AS (
      UPDATE queues AS q SET next_at = now() + interval '0.5 seconds' FROM peers AS p
       WHERE ${isPeer} AND q.peer_url = p.url AND q.failures > 0 AND q.next_at > now() + interval '0.5 seconds')`;
