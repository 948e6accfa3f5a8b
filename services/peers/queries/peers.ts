import type { PeerSummary } from '#lib/contracts/parts.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { PageRequest } from '#lib/http/lists.ts';
import type { ListedPeer, Peer } from '../domain/peer.ts';

const columns = sql`p.id, p.url, p.name, p.choices, p.state, p.subject_prefix AS "subjectPrefix",
  p.notification, p.erasure, p.witness, p.version,
  ARRAY(SELECT k.kid FROM peer_keys AS k WHERE k.peer = p.id AND k.use = 'sig' ORDER BY k.position)
    AS thumbprints, p.announced, p.created_at AS "createdAt", p.modified_at AS "modifiedAt", p.last_contact_at AS "lastContactAt", p.compared_at AS "comparedAt"`;

/** Only for administrators' views: counting is too slow for every request of a peer. */
const backlog = sql`
  (SELECT count(*)::int
     FROM (SELECT 1 FROM deliveries AS d WHERE d.peer_url = p.url AND d.kind <> 'ask' LIMIT 100000) AS d)
  AS backlog,
  coalesce((SELECT q.failures FROM queues AS q WHERE q.peer_url = p.url), 0) AS failures,
  (SELECT q.next_at FROM queues AS q WHERE q.peer_url = p.url AND q.failures > 0) AS "nextAttemptAt",
  (SELECT q.last_error FROM queues AS q WHERE q.peer_url = p.url AND q.failures > 0) AS "lastError",
  (SELECT c.read_at FROM catalogues AS c WHERE c.url = p.url) AS "catalogueReadAt",
  (SELECT c.size FROM catalogues AS c WHERE c.url = p.url AND c.read_at IS NOT NULL) AS "catalogueSize"`;

/** Lists peers, newest first, after a position. */
export function listPeers(
  db: Queries,
  { after, limit }: PageRequest,
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

/**
 * Locks a peer's row until the end of the transaction. Its keys are read by a second statement, which sees
 * what was committed while the first one waited.
 */
export async function lockPeer(tx: Queries, id: string): Promise<Peer | undefined> {
  const locked = await tx.maybeOne<object>(sql`SELECT p.id FROM peers AS p WHERE p.id = ${id} FOR UPDATE`);
  return locked && tx.one<Peer>(sql`SELECT ${columns} FROM peers AS p WHERE p.id = ${id}`);
}

/** Creates the peer at an address, or pairs it again. @returns its id and version, and whether it is new. */
export function savePairedPeer(
  tx: Queries,
  { id, url, name, choices }: Pick<Peer, 'id' | 'url' | 'name' | 'choices'>,
): Promise<{ id: string; version: number; isNew: boolean }> {
  return tx.one(sql`
    INSERT INTO peers AS p
      (id, url, name, choices, state, version, created_at, modified_at, described_at, last_contact_at)
    VALUES (${id}, ${url}, ${name}, ${choices}, 'PAIRED', 1, accord_now(), accord_now(), accord_now(), accord_now())
    ON CONFLICT (url) DO UPDATE
       SET name = excluded.name, choices = excluded.choices, state = 'PAIRED', announced = NULL, compared_at = NULL, version = p.version + 1,
           modified_at = accord_now(), described_at = accord_now(), last_contact_at = accord_now()
    RETURNING p.id, p.version, p.id = ${id} AS "isNew"`);
}

/**
 * The ids, URLs and pages of choices (empty: none) of all peers, also of ended pairings, in the same order,
 * and when they were read.
 */
export function listPeerIds(
  db: Queries,
): Promise<{ ids: string[]; urls: string[]; choices: string[]; asOf: string }> {
  return db.one(sql`
    SELECT ARRAY(SELECT p.id::text FROM peers AS p ORDER BY p.id) AS ids,
           ARRAY(SELECT p.url FROM peers AS p ORDER BY p.id) AS urls,
           ARRAY(SELECT coalesce(p.choices, '') FROM peers AS p ORDER BY p.id) AS choices, to_json(now())#>>'{}' AS "asOf"`);
}

/** The ids of all peers but those of ended pairings. */
export async function listPeersInContact(db: Queries): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`SELECT p.id FROM peers AS p WHERE p.state <> 'ENDED'`);
  return rows.map(({ id }) => id);
}

export async function deletePeer(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM peers AS p WHERE p.id = ${id}`);
}

/** Stores the members of a locked peer that can change, and increments its version. */
export async function updatePeer(tx: Queries, peer: Peer): Promise<void> {
  const { id, name, choices, state, announced, subjectPrefix, notification, erasure, witness } = peer;
  await tx.query(sql`
    UPDATE peers AS p
       SET name = ${name}, choices = ${choices}, state = ${state}, announced = ${announced && JSON.stringify(announced)}::jsonb,
           subject_prefix = ${subjectPrefix}, notification = ${notification}, erasure = ${erasure},
           witness = ${witness}, version = p.version + 1, modified_at = accord_now()
     WHERE p.id = ${id}`);
}

/** Records that an administrator has compared the keys of a peer with what the other one has read out. */
export async function recordComparison(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`UPDATE peers AS p SET compared_at = accord_now() WHERE p.id = ${id}`);
}

/** Records that a peer has answered, unless it is in quarantine. */
export async function touchPeer(db: Queries, url: string): Promise<void> {
  await db.query(sql`
    WITH ${retrySoon(sql`p.url = ${url} AND p.state = 'PAIRED'`)}
    UPDATE peers AS p SET last_contact_at = accord_now() WHERE p.url = ${url} AND p.state = 'PAIRED'`);
}

/**
 * The queue of a failing peer that is in contact again is due after 0.5 seconds instead of its full back-off.
 * A delivery that has failed still waits for its own next attempt. Until an attempt succeeds, there is one at
 * a time, because contact does not prove that the peer accepts parts.
 */
const retrySoon = (isPeer: Statement) => sql`retried AS (
      UPDATE queues AS q SET next_at = now() + interval '0.5 seconds' FROM peers AS p
       WHERE ${isPeer} AND q.peer_url = p.url AND q.failures > 0
         AND q.next_at > now() + interval '0.5 seconds')`;

/**
 * Uses up a token's id, confirms that its key is pinned, and records the contact at most every 10 s. A single
 * statement, because every request of a peer runs it.
 * @returns the peer, or undefined if the key is no longer pinned. `isFirst` is true for exactly one use of
 * the id.
 */
export function admitToken(
  db: Queries,
  { url, kid, jti, expiresAt }: { url: string; kid: string; jti: string; expiresAt: Date },
): Promise<(PeerSummary & Pick<Peer, 'state' | 'erasure'> & { isFirst: boolean }) | undefined> {
  return db.maybeOne(sql`
    WITH known AS (
           SELECT p.id, p.url, p.name, p.state, p.subject_prefix AS "subjectPrefix", p.notification,
                  p.erasure
             FROM peers AS p JOIN peer_keys AS k ON k.peer = p.id
            WHERE p.url = ${url} AND k.kid = ${kid} AND k.use = 'sig'),
         used AS (
           INSERT INTO seen_tokens (peer, jti, expires_at) SELECT k.id, ${jti}, ${expiresAt} FROM known AS k
           ON CONFLICT DO NOTHING RETURNING peer),
         heard AS (
           SELECT p.id FROM used AS u JOIN peers AS p ON p.id = u.peer WHERE p.state = 'PAIRED'),
         ${retrySoon(sql`p.id = (SELECT h.id FROM heard AS h)`)},
         touched AS (
           UPDATE peers AS p SET last_contact_at = accord_now() FROM heard AS h
            WHERE p.id = h.id
              AND (p.last_contact_at IS NULL OR p.last_contact_at < accord_now() - interval '10 seconds'))
    SELECT k.*, EXISTS (SELECT FROM used) AS "isFirst" FROM known AS k`);
}

/** Deletes token ids that have expired. */
export async function deleteExpiredTokens(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM seen_tokens AS s WHERE s.expires_at < accord_now()`);
}
