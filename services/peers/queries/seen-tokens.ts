import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Uses up a token's id: exactly one of all who try gets true, whichever replica they ask. */
export async function useTokenId(
  db: Queries,
  { peer, jti, expiresAt }: { peer: string; jti: string; expiresAt: Date },
): Promise<boolean> {
  const used = await db.query(sql`
    INSERT INTO seen_tokens (peer, jti, expires_at) VALUES (${peer}, ${jti}, ${expiresAt})
    ON CONFLICT DO NOTHING RETURNING jti`);
  return used.length > 0;
}

/** Forgets ids that could not be good again. */
export async function forgetTokenIds(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM seen_tokens AS s WHERE s.expires_at < accord_now()`);
}
