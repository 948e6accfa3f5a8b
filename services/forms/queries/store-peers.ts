import type { CataloguePeer } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { appearanceOf, type PeerVersion, type PeerVersionHead } from '../domain/peer-entry.ts';

/** Former MINORs that are kept of an entry: a form stays open for days, and nobody publishes a hundred in them. */
const mostVersions = 20;
/** Twice what a catalogue may hold: a peer whose catalogue is never whole does not fill our disk. */
const mostEntries = 4_000;
/** Serials whose content is remembered of a peer. */
const mostSerials = 20_000;

/**
 * Makes or renews a peer and locks its row, so that what is stored of it is stored by one at a time.
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
    ON CONFLICT (url) DO UPDATE SET name = excluded.name, appearance = excluded.appearance, sealing_key = excluded.sealing_key, receiving = excluded.receiving
    RETURNING p.url`);
}

/** Versions among these whose content is stored already. @returns their keys. */
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
 * Remembers which content each serial has: the first one that it was given. Of a peer who has very many, the oldest are forgotten.
 * @returns keys of those among these that have another content than is remembered.
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
         SELECT o.known_at FROM peer_serials AS o WHERE o.peer = ${peer} ORDER BY o.known_at DESC OFFSET ${mostSerials - 1} LIMIT 1)`);
  const others = await tx.query<{ key: string }>(sql`
    SELECT g.key FROM ${given(heads)}
      JOIN peer_serials AS s ON s.peer = ${peer} AND s.key = g.key AND s.major = g.major AND s.minor = g.minor
     WHERE s.digest <> g.digest`);
  return new Set(others.map(({ key }) => key));
}

/** Makes versions whose content is stored the ACTIVE ones of their entries, as a state of the catalogue has them. */
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
 * Stores a version and makes it the ACTIVE one of its entry; former MAJORs are forgotten, for nobody may answer them any more.
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
       SELECT o.id FROM peer_versions AS o WHERE o.entry = ${id} ORDER BY o.minor DESC OFFSET ${mostVersions - 1}))`);
  await tx.query(sql`
    UPDATE peer_versions AS v SET archived_at = accord_now() WHERE v.entry = ${id} AND v.archived_at IS NULL`);
  await tx.query(sql`
    INSERT INTO peer_versions (id, entry, major, minor, default_language, data, digest)
    VALUES (${version}, ${id}, ${major}, ${minor}, ${defaultLanguage}, ${data}, ${digest})`);
}

/** Forgets what no state had that was ever whole, once a peer has more than any catalogue may hold. */
export async function boundEntries(tx: Queries, peer: string): Promise<void> {
  await tx.query(sql`
    DELETE FROM peer_entries AS e USING peers AS p
     WHERE p.url = ${peer} AND e.peer = p.url AND e.seen_state <> p.receiving AND e.seen_state IS DISTINCT FROM p.state
       AND (SELECT count(*) FROM peer_entries AS c WHERE c.peer = p.url) > ${mostEntries}`);
}

/** Tells that the copy of a state is whole. @returns false if that state was neither received nor is there. */
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

/** Replaces the list of this instance's peers. An older list than the one that is stored changes nothing. */
export async function saveKnownPeers(
  db: Queries,
  { ids, asOf }: { ids: readonly string[]; asOf: string },
): Promise<void> {
  await db.query(sql`
    INSERT INTO known_peers AS k (ids, as_of) VALUES (${ids}::text[], ${asOf}::timestamptz)
    ON CONFLICT (single) DO UPDATE SET ids = excluded.ids, as_of = excluded.as_of WHERE k.as_of <= excluded.as_of`);
}

/** Which of these ids are no peer's; none as long as the list is not known. */
export async function findUnknownPeers(db: Queries, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    SELECT g.id FROM unnest(${ids}::text[]) AS g (id) JOIN known_peers AS k ON g.id <> ALL (k.ids)`);
  return rows.map(({ id }) => id);
}
