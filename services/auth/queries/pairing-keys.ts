import type { PairingPartner } from '#lib/contracts/auth.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** How long a key of scope PEER waits for its partner. */
const goodForDays = 7;
/** How long a pairing may take before the key is free for another one (docs/federation.md, "Pairing"). */
const reservedForMinutes = 10;

/** Whether a key of scope PEER (`api_keys AS k`) can still begin a pairing. */
export const canPair = sql`(k.used_at IS NULL AND k.created_at > accord_now() - ${goodForDays} * interval '1 day')`;

/** How long after its use a key may be presented again by the same partner: a reply was lost. */
const repeatableForMinutes = 10;

/** Identifies one pairing: its id, and the instance that pairs. */
interface PairingClaim extends PairingPartner {
  id: string;
  pairing: string;
}

/** Whether the key (`api_keys AS k`) is reserved for exactly this pairing of exactly this partner. */
const isReservedFor = ({ pairing, url, thumbprint }: PairingClaim) => sql`
  (k.pairing = ${pairing} AND k.partner_url = ${url} AND k.partner_thumbprint = ${thumbprint}
   AND k.revoked_at IS NULL AND k.spent_at IS NULL
   AND (k.used_at IS NULL OR k.used_at > accord_now() - ${repeatableForMinutes} * interval '1 minute'))`;

/**
 * Reserves a key of scope PEER for one pairing of one partner. Repeating the call with the same claim is idempotent.
 * @returns false if the key is too old, spent, or reserved for or used by another pairing or partner.
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

/** Uses up a reserved key. @returns false if the key is no longer reserved for this pairing of this partner. */
export async function useKey(db: Queries, claim: PairingClaim): Promise<boolean> {
  const used = await db.query(sql`
    UPDATE api_keys AS k
       SET used_at = coalesce(k.used_at, accord_now()), last_access_at = coalesce(k.used_at, accord_now())
     WHERE k.id = ${claim.id} AND ${isReservedFor(claim)}
    RETURNING k.id`);
  return used.length > 0;
}

/** Spends every key that a partner has reserved or used: the partner was removed and needs a new one. */
export async function spendKeysOf(db: Queries, url: string): Promise<void> {
  await db.query(sql`
    UPDATE api_keys AS k
       SET spent_at = accord_now(), used_at = coalesce(k.used_at, accord_now())
     WHERE k.partner_url = ${url} AND k.spent_at IS NULL`);
}
