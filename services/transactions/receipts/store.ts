import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { SignedReceipt } from './receipt.ts';

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

export function readReceipt(db: Queries, transaction: string): Promise<SignedReceipt | undefined> {
  return db.maybeOne<SignedReceipt>(
    sql`SELECT r.body, r.jws FROM receipts AS r WHERE r.transaction = ${transaction}`,
  );
}

/** The body of a receipt, or of its draft while the answers are submitted and not committed. */
export async function readReceiptBody(db: Queries, transaction: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ body: string }>(sql`
    SELECT r.body FROM receipts AS r WHERE r.transaction = ${transaction}
     UNION ALL
    SELECT d.body FROM receipt_drafts AS d WHERE d.transaction = ${transaction}
     LIMIT 1`);
  return row?.body;
}

/** Bodies of receipts, or of their drafts before the commit, by transaction. */
export async function readReceiptBodies(
  db: Queries,
  transactions: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ transaction: string; body: string }>(sql`
    SELECT r.transaction, r.body FROM receipts AS r WHERE r.transaction = ANY(${transactions}::text[])
    UNION ALL
    SELECT d.transaction, d.body FROM receipt_drafts AS d WHERE d.transaction = ANY(${transactions}::text[])`);
  return new Map(rows.map(({ transaction, body }) => [transaction, body]));
}
