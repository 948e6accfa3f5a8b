import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** How long a key of scope PEER waits for its partner. */
const goodForDays = 7;
/** How long a pairing may take before the key is free for another one (federation.md, "Trust"). */
const reservedForMinutes = 10;

/** Whether a key of scope PEER (`api_keys AS k`) can still begin a pairing. */
export const canPair = sql`(k.used_at IS NULL AND k.created_at > accord_now() - ${goodForDays} * interval '1 day')`;

/**
 * Reserves a key of scope PEER for a pairing; again for the same pairing is the same. @returns false if it is too old, or another
 * pairing has it.
 */
export async function reserveKey(
  db: Queries,
  { id, pairing }: { id: string; pairing: string },
): Promise<boolean> {
  const reserved = await db.query(sql`
    UPDATE api_keys AS k
       SET pairing = ${pairing}, reserved_until = accord_now() + ${reservedForMinutes} * interval '1 minute'
     WHERE k.id = ${id} AND k.scope = 'PEER' AND k.revoked_at IS NULL
       AND (k.pairing = ${pairing}
            OR (${canPair} AND (k.pairing IS NULL OR k.reserved_until < accord_now())))
    RETURNING k.id`);
  return reserved.length > 0;
}

/** Uses up a key for the pairing that has it reserved. @returns false if it has it no more. */
export async function useKey(
  db: Queries,
  { id, pairing }: { id: string; pairing: string },
): Promise<boolean> {
  const used = await db.query(sql`
    UPDATE api_keys AS k
       SET used_at = coalesce(k.used_at, accord_now()), last_access_at = coalesce(k.used_at, accord_now())
     WHERE k.id = ${id} AND k.pairing = ${pairing} AND k.revoked_at IS NULL
    RETURNING k.id`);
  return used.length > 0;
}
