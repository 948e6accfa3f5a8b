import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** The pairing of an address and a one-time key: the one begun before, or this new one. @param keyDigest SHA-256 of the key. */
export async function findOrBeginPairing(
  db: Queries,
  { id, url, keyDigest }: { id: string; url: string; keyDigest: Buffer },
): Promise<string> {
  const pairing = await db.one<{ id: string }>(sql`
    INSERT INTO pairings AS p (id, url, key_digest, created_at) VALUES (${id}, ${url}, ${keyDigest}, accord_now())
    ON CONFLICT (url, key_digest) DO UPDATE SET created_at = accord_now()
    RETURNING p.id`);
  return pairing.id;
}
