import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** What is kept of an erased receipt. */
export interface ErasedReceipt {
  /** SHA-256 of the JWS, base64url. */
  digest: string;
  kid: string;
  signedAt: Date;
}

export async function readErasedReceipt(
  db: Queries,
  transaction: string,
): Promise<ErasedReceipt | undefined> {
  const row = await db.maybeOne<Omit<ErasedReceipt, 'digest'> & { digest: Buffer }>(sql`
    SELECT e.digest, e.kid, e.signed_at AS "signedAt"
      FROM erased_receipts AS e WHERE e.transaction = ${transaction}`);
  return row && { ...row, digest: row.digest.toString('base64url') };
}
