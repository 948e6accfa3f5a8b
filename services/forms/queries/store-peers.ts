import type { CataloguePeer } from '#lib/contracts/peer-entries.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { appearanceOf } from '#lib/text/appearance.ts';
import type { PeerVersion, PeerVersionHead } from '../domain/peer-entry.ts';

/**
 * Versions kept per entry, with the ACTIVE one. Forms stay open for days, in which few versions are
 * published.
 */
const maxVersions = 20;
/**
 * Entries kept per peer: twice the limit of a catalogue, so that a peer that never finishes one cannot fill
 * the disk.
 */
const maxEntries = 4_000;
/** Serials per peer whose digest is kept. */
const maxSerials = 20_000;

/**
 * Inserts or updates a peer and locks its row, so that its entries are stored one request at a time.
 * @returns undefined if another peer has that host.
 */
export function receivePeer(
  tx: Queries,
  { url, name, sealingKey }: CataloguePeer,
  state: string,
): Promise<{ url: string } | undefined> {
  return tx.maybeOne(sql`
    INSERT INTO peers AS p (url, host, name, appearance, sealing_key, receiving, as_of)
    SELECT ${url}, ${new URL(url).host}, ${name}, ${appearanceOf(name)}, ${sealingKey}, ${state}, accord_now()
     WHERE NOT EXISTS (SELECT 1 FROM peers AS o WHERE o.host = ${new URL(url).host} AND o.url <> ${url})
    ON CONFLICT (url) DO UPDATE
       SET name = excluded.name, appearance = excluded.appearance, sealing_key = excluded.sealing_key,
           receiving = excluded.receiving
    RETURNING p.url`);
}

/** @returns the keys of those versions whose content is already stored. */
export async function readKnownVersions(
  db: Queries,
  peer: string,
  heads: readonly PeerVersionHead[],
): Promise<Set<string>> {
  const rows = await db.query<{ key: string }>(sql`
    SELECT e.key FROM ${given(heads)}
      JOIN peer_entries AS e ON e.peer = ${peer} AND e.key = g.key AND e.type = g.type
      JOIN peer_versions AS v ON v.entry = e.id AND v.major = g.major AND v.minor = g.minor AND v.digest = g.digest`);
  return new Set(rows.map(({ key }) => key));
}

/**
 * Stores the first digest received for each serial; the oldest are deleted above the limit.
 * @returns the keys of the versions whose content differs from the stored digest.
 */
export async function rememberSerials(
  tx: Queries,
  peer: string,
  heads: readonly PeerVersionHead[],
): Promise<Set<string>> {
  if (heads.length === 0) return new Set();
  const added = await tx.query(sql`
    INSERT INTO peer_serials (peer, key, major, minor, digest, known_at)
    SELECT ${peer}, g.key, g.major, g.minor, g.digest, accord_now() FROM ${given(heads)}
    ON CONFLICT DO NOTHING
    RETURNING key`);
  if (added.length > 0)
    await tx.query(sql`
      DELETE FROM peer_serials AS s
       WHERE s.peer = ${peer} AND s.known_at < (
         SELECT o.known_at FROM peer_serials AS o WHERE o.peer = ${peer} ORDER BY o.known_at DESC OFFSET ${maxSerials - 1} LIMIT 1)`);
  const others = await tx.query<{ key: string }>(sql`
    SELECT g.key FROM ${given(heads)}
      JOIN peer_serials AS s ON s.peer = ${peer} AND s.key = g.key AND s.major = g.major AND s.minor = g.minor
     WHERE s.digest <> g.digest`);
  return new Set(others.map(({ key }) => key));
}

/** Activates versions whose content is already stored, in the given state of the catalogue. */
export async function markSeen(
  tx: Queries,
  { peer, state }: { peer: string; state: string },
  heads: readonly PeerVersionHead[],
): Promise<void> {
  await tx.query(sql`
    WITH seen AS (
      UPDATE peer_entries AS e
         SET name = g.name, seen_state = ${state}, active_version = v.id, active_major = v.major, active_minor = v.minor
        FROM ${given(heads)}, peer_versions AS v
       WHERE e.peer = ${peer} AND e.key = g.key AND v.entry = e.id AND v.major = g.major AND v.minor = g.minor
      RETURNING e.id, e.active_version)
    UPDATE peer_versions AS v
       SET archived_at = CASE WHEN v.id = s.active_version THEN NULL ELSE coalesce(v.archived_at, accord_now()) END
      FROM seen AS s
     WHERE v.entry = s.id AND (v.id = s.active_version) = (v.archived_at IS NOT NULL)`);
}

/**
 * Stores a version and activates it. Former MAJORs are deleted, because answers to them are no longer
 * accepted.
 */
export async function storeVersion(
  tx: Queries,
  { peer, state }: { peer: string; state: string },
  { key, type, name, major, minor, digest, defaultLanguage, data }: PeerVersion,
): Promise<void> {
  const version = newUuid();
  const { id } = await tx.one<{ id: string }>(sql`
    INSERT INTO peer_entries AS e (id, peer, key, type, name, active_version, active_major, active_minor, seen_state)
    VALUES (${newUuid()}, ${peer}, ${key}, ${type}, ${name}, ${version}, ${major}, ${minor}, ${state})
    ON CONFLICT (peer, key) DO UPDATE
       SET type = excluded.type, name = excluded.name, seen_state = excluded.seen_state, active_version = excluded.active_version,
           active_major = excluded.active_major, active_minor = excluded.active_minor
    RETURNING e.id`);
  await tx.query(sql`
    DELETE FROM peer_versions AS v
     WHERE v.entry = ${id} AND (v.major <> ${major} OR v.minor = ${minor} OR v.id IN (
       SELECT o.id FROM peer_versions AS o WHERE o.entry = ${id} ORDER BY o.minor DESC OFFSET ${maxVersions - 1}))`);
  await tx.query(sql`
    UPDATE peer_versions AS v SET archived_at = accord_now() WHERE v.entry = ${id} AND v.archived_at IS NULL`);
  await tx.query(sql`
    INSERT INTO peer_versions (id, entry, major, minor, default_language, data, digest)
    VALUES (${version}, ${id}, ${major}, ${minor}, ${defaultLanguage}, ${data}, ${digest})`);
}

/** Deletes entries that belong to no completed state, once a peer has more than the limit. */
export async function boundEntries(tx: Queries, peer: string): Promise<void> {
  await tx.query(sql`
    DELETE FROM peer_entries AS e USING peers AS p
     WHERE p.url = ${peer} AND e.peer = p.url AND e.seen_state <> p.receiving AND e.seen_state IS DISTINCT FROM p.state
       AND (SELECT count(*) FROM peer_entries AS c WHERE c.peer = p.url) > ${maxEntries}`);
}

/**
 * Marks the copy of a state as complete.
 * @returns false if that state was neither being received nor is stored.
 */
export async function finishState(
  tx: Queries,
  { url, state, asOf }: { url: string; state: string; asOf: string },
): Promise<boolean> {
  const finished = await tx.query(sql`
    UPDATE peers AS p SET state = ${state}, receiving = NULL, as_of = greatest(p.as_of, ${asOf}::timestamptz)
     WHERE p.url = ${url} AND (p.receiving = ${state} OR (p.receiving IS NULL AND p.state = ${state}))
    RETURNING p.url`);
  if (finished.length === 0) return false;
  await tx.query(sql`DELETE FROM peer_entries AS e WHERE e.peer = ${url} AND e.seen_state <> ${state}`);
  return true;
}

export async function deletePeer(db: Queries, url: string): Promise<void> {
  await db.query(sql`DELETE FROM peers AS p WHERE p.url = ${url}`);
}

const given = (heads: readonly PeerVersionHead[]) => sql`
  unnest(${heads.map(({ key }) => key)}::text[], ${heads.map(({ type }) => type)}::text[], ${heads.map(({ name }) => name)}::text[],
         ${heads.map(({ major }) => major)}::int[], ${heads.map(({ minor }) => minor)}::int[], ${heads.map(({ digest }) => digest)}::bytea[])
    AS g (key, type, name, major, minor, digest)`;

/** Replaces the list of this instance's peers. A list older than the stored one is ignored. */
export async function saveKnownPeers(
  db: Queries,
  { ids, urls, choices, asOf }: Record<'ids' | 'urls' | 'choices', readonly string[]> & { asOf: string },
): Promise<void> {
  await db.query(sql`
    INSERT INTO known_peers AS k (ids, urls, choices, as_of)
    VALUES (${ids}::text[], ${urls}::text[], ${choices}::text[], ${asOf}::timestamptz)
    ON CONFLICT (single) DO UPDATE
       SET ids = excluded.ids, urls = excluded.urls, choices = excluded.choices, as_of = excluded.as_of
     WHERE k.as_of <= excluded.as_of`);
}

/** The pages "My choices" of peers, by base URL; peers that have announced none are left out. */
export async function readPeerChoices(db: Queries, urls: readonly string[]): Promise<Record<string, string>> {
  const rows = await db.query<{ url: string; choices: string }>(sql`
    SELECT n.url, n.choices FROM known_peers AS k, unnest(k.urls, k.choices) AS n (url, choices)
     WHERE n.url = ANY(${urls}::text[]) AND n.choices <> ''`);
  return Object.fromEntries(rows.map(({ url, choices }) => [url, choices]));
}

/** @returns the ids that belong to no peer; empty as long as the list of peers is unknown. */
export async function findUnknownPeers(db: Queries, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    SELECT g.id FROM unnest(${ids}::text[]) AS g (id) JOIN known_peers AS k ON g.id <> ALL (k.ids)`);
  return rows.map(({ id }) => id);
}
