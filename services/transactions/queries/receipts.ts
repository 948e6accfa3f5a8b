import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** A receipt as it was signed: `body` is the exact text under the signature. */
export interface StoredReceipt {
  body: string;
  jws: string;
}

export async function readReceipt(db: Queries, transaction: string): Promise<StoredReceipt | undefined> {
  return db.maybeOne<StoredReceipt>(
    sql`SELECT r.body, r.jws FROM receipts AS r WHERE r.transaction = ${transaction}`,
  );
}

/** The body of a transaction's receipt, or of its draft while the answers wait for peers. */
export async function readReceiptBody(db: Queries, transaction: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ body: string }>(sql`
    SELECT r.body FROM receipts AS r WHERE r.transaction = ${transaction}
     UNION ALL
    SELECT d.body FROM receipt_drafts AS d WHERE d.transaction = ${transaction}
     LIMIT 1`);
  return row?.body;
}
