import type { JWK } from 'jose';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { PeerKey } from '../domain/description.ts';
import type { PinnedKey } from '../domain/signatures.ts';

/**
 * Pins these keys of a peer and no others. Several peers may pin the same public key, because keys are looked
 * up by peer and thumbprint (docs/federation.md, "Requests between peers"). Waits for deliveries that are
 * being queued, so that the caller can bind them to the new keys; later ones wait for the COMMIT.
 * @returns the thumbprint of the sealing key until now; undefined if the peer had none.
 */
export async function pinKeys(
  tx: Queries,
  peer: string,
  keys: readonly PeerKey[],
): Promise<string | undefined> {
  await tx.query(sql`
    SELECT pg_advisory_xact_lock(hashtext('peer keys'), hashtext(p.url)) FROM peers AS p WHERE p.id = ${peer}`);
  const former = await tx.maybeOne<{ kid: string }>(sql`
    SELECT k.kid FROM peer_keys AS k WHERE k.peer = ${peer} AND k.use = 'enc' ORDER BY k.position LIMIT 1`);
  await tx.query(sql`DELETE FROM peer_keys AS k WHERE k.peer = ${peer}`);
  await tx.query(sql`
    INSERT INTO peer_keys (kid, peer, use, position, jwk)
    SELECT k.value->>'kid', ${peer}::uuid, k.value->>'use', k.ordinality, k.value->'jwk'
      FROM jsonb_array_elements(${JSON.stringify(keys)}::jsonb) WITH ORDINALITY AS k (value, ordinality)`);
  return former?.kid;
}

/** Finds a pinned signing key of the peer at a base URL. Ended pairings have no pinned keys. */
export async function findPinnedKey(db: Queries, url: string, kid: string): Promise<JWK | undefined> {
  const found = await db.maybeOne<{ jwk: JWK }>(sql`
    SELECT k.jwk FROM peer_keys AS k JOIN peers AS p ON p.id = k.peer
     WHERE p.url = ${url} AND k.kid = ${kid} AND k.use = 'sig'`);
  return found?.jwk;
}

/** The keys for checking a paired peer's documents and for sealing answers to it. */
export interface PairedKeys {
  name: string;
  signing: PinnedKey[];
  /** The first sealing key: answers are sealed to it. */
  sealing: JWK;
}

/** Reads a peer's pinned keys; undefined if it is not paired. */
export async function readPairedKeys(db: Queries, url: string): Promise<PairedKeys | undefined> {
  const rows = await db.query<{ name: string; kid: string; use: 'sig' | 'enc'; jwk: JWK }>(sql`
    SELECT p.name, k.kid, k.use, k.jwk FROM peers AS p JOIN peer_keys AS k ON k.peer = p.id
     WHERE p.url = ${url} AND p.state = 'PAIRED' ORDER BY k.position`);
  const sealing = rows.find(({ use }) => use === 'enc');
  if (!sealing) return undefined;
  return { name: sealing.name, sealing: sealing.jwk, signing: rows.filter(({ use }) => use === 'sig') };
}

/**
 * Claims the fetch of a peer's self-description. @returns the peer's id; undefined if there is no such peer,
 * or the fetch was claimed in the last `seconds`.
 */
export async function claimDescription(
  db: Queries,
  url: string,
  seconds: number,
): Promise<string | undefined> {
  const claimed = await db.maybeOne<{ id: string }>(sql`
    UPDATE peers AS p SET described_at = accord_now()
     WHERE p.url = ${url} AND p.state <> 'ENDED'
       AND p.described_at <= accord_now() - ${seconds} * interval '1 second'
    RETURNING p.id`);
  return claimed?.id;
}

/** Records that a peer accepted a request signed with this key of ours. */
export async function markKeyKnown(db: Queries, id: string, kid: string): Promise<void> {
  await db.query(sql`UPDATE peers AS p SET knows_kid = ${kid} WHERE p.id = ${id}`);
}
