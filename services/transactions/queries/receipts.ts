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
