import type { PairingPartner } from '#lib/contracts/auth.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { PageRequest } from '#lib/http/lists.ts';
import { type KeyScope, pairingKeyDays } from '../domain/api-keys.ts';

/** An API key without its secret. */
export interface ApiKey {
  id: string;
  name: string;
  scope: KeyScope;
  /** Scope DECISION: keys of the elements that it may ask about; null for all. */
  elements: string[] | null;
  createdAt: Date;
  /** Username; null for keys from before it was kept. */
  createdBy: string | null;
  /** Null: it does not expire, or it is of scope PEER, whose keys have a time of their own. */
  expiresAt: Date | null;
  lastAccessAt: Date | null;
}

const columns = sql`k.id, k.name, k.scope, k.elements, k.created_at AS "createdAt", k.created_by AS "createdBy",
  k.expires_at AS "expiresAt", k.last_access_at AS "lastAccessAt"`;

export function insertKey(
  db: Queries,
  key: Pick<ApiKey, 'id' | 'name' | 'scope'> &
    Partial<Pick<ApiKey, 'elements' | 'createdBy' | 'expiresAt'>> & { hash: Buffer },
): Promise<ApiKey> {
  return db.one<ApiKey>(sql`
    INSERT INTO api_keys AS k (id, name, scope, elements, hash, created_at, created_by, expires_at)
    VALUES (${key.id}, ${key.name}, ${key.scope}, ${key.elements ?? null}, ${key.hash}, accord_now(),
            ${key.createdBy ?? null}::text, ${key.expiresAt ?? null}::timestamptz)
    RETURNING ${columns}`);
}

/** A page of the keys that are not revoked, newest first. @param after end of the previous page. */
export function listKeys(
  db: Queries,
  { after, limit }: PageRequest,
): Promise<(ApiKey & { position: string })[]> {
  const from = after
    ? sql`AND (k.created_at, k.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, k.created_at::text AS position FROM api_keys AS k
     WHERE k.revoked_at IS NULL ${from}
     ORDER BY k.created_at DESC, k.id DESC LIMIT ${limit}`);
}

/**
 * Revokes a key; its row stays, so that its id is never reused. @returns undefined if there is no such active
 * key.
 */
export function revokeKey(db: Queries, id: string): Promise<{ id: string; scope: KeyScope } | undefined> {
  return db.maybeOne(sql`
    UPDATE api_keys AS k SET revoked_at = accord_now()
     WHERE k.id = ${id} AND k.revoked_at IS NULL
    RETURNING k.id, k.scope`);
}

/** Reads a key that is not revoked. `spent`: it has expired, or is a pairing key that is used or too old. */
export function findKey(
  db: Queries,
  id: string,
): Promise<
  (Pick<ApiKey, 'id' | 'name' | 'scope' | 'elements'> & { hash: Buffer; spent: boolean }) | undefined
> {
  return db.maybeOne(sql`
    SELECT k.id, k.name, k.scope, k.elements, k.hash,
           (k.scope = 'PEER' AND NOT ${canPair}) OR k.expires_at <= accord_now() IS TRUE AS spent
      FROM api_keys AS k WHERE k.id = ${id} AND k.revoked_at IS NULL`);
}

/** Updates a key's access time, at most once a minute over all replicas. */
export async function touchKey(db: Queries, id: string): Promise<void> {
  await db.query(sql`
    UPDATE api_keys AS k SET last_access_at = accord_now()
     WHERE k.id = ${id} AND (k.last_access_at IS NULL OR k.last_access_at < accord_now() - interval '1 minute')`);
}

/** A pairing reserves its key for this long (docs/federation.md, "Pairing"). */
const reservedForMinutes = 10;

/** Whether a key of scope PEER (`api_keys AS k`) can still start a pairing. */
const canPair = sql`(k.used_at IS NULL AND k.created_at > accord_now() - ${pairingKeyDays} * interval '1 day')`;

/** The same peer may present a used key again for this long, in case it lost the response. */
const repeatableForMinutes = 10;

/** One pairing: the key's id, the pairing's id and the peer. */
interface PairingClaim extends PairingPartner {
  id: string;
  pairing: string;
}

/** Whether the key (`api_keys AS k`) is reserved for this pairing of this peer. */
const isReservedFor = ({ pairing, url, thumbprint }: PairingClaim) => sql`
  (k.pairing = ${pairing} AND k.partner_url = ${url} AND k.partner_thumbprint = ${thumbprint}
   AND k.revoked_at IS NULL AND k.spent_at IS NULL
   AND (k.used_at IS NULL OR k.used_at > accord_now() - ${repeatableForMinutes} * interval '1 minute'))`;

/**
 * Reserves a key of scope PEER for one pairing of one peer; idempotent for the same claim.
 * @returns false if the key is too old, spent, or reserved or used by another pairing or peer.
 */
export async function reserveKey(db: Queries, claim: PairingClaim): Promise<boolean> {
  const reserved = await db.query(sql`
    UPDATE api_keys AS k
       SET pairing = ${claim.pairing}, partner_url = ${claim.url}, partner_thumbprint = ${claim.thumbprint},
           reserved_until = accord_now() + ${reservedForMinutes} * interval '1 minute'
     WHERE k.id = ${claim.id} AND k.scope = 'PEER' AND k.revoked_at IS NULL AND k.spent_at IS NULL
       AND (${isReservedFor(claim)}
            OR (${canPair} AND (k.pairing IS NULL OR k.reserved_until < accord_now())))
    RETURNING k.id`);
  return reserved.length > 0;
}

/** Marks a reserved key as used. @returns false if it is not reserved for this pairing of this peer. */
export async function useKey(db: Queries, claim: PairingClaim): Promise<boolean> {
  const used = await db.query(sql`
    UPDATE api_keys AS k
       SET used_at = coalesce(k.used_at, accord_now()), last_access_at = coalesce(k.used_at, accord_now())
     WHERE k.id = ${claim.id} AND ${isReservedFor(claim)}
    RETURNING k.id`);
  return used.length > 0;
}

/** Invalidates every key that a removed peer has reserved or used. */
export async function spendKeysOf(db: Queries, url: string): Promise<void> {
  await db.query(sql`
    UPDATE api_keys AS k
       SET spent_at = accord_now(), used_at = coalesce(k.used_at, accord_now())
     WHERE k.partner_url = ${url} AND k.spent_at IS NULL`);
}
