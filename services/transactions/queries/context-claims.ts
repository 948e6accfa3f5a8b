import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { toReadTransaction, transactionColumns } from './transaction-columns.ts';

/** The transaction that a digest's claim points to. */
export async function readClaimed(db: Queries, digest: Buffer): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Transaction & { now: Date }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now
      FROM context_claims AS c JOIN transactions AS t ON t.id = c.transaction
     WHERE c.digest = ${digest}`);
  return row && toReadTransaction(row);
}

/** Waits for whoever decides about the same digest, until the end of the database transaction. */
export async function lockClaim(tx: Queries, digest: Buffer): Promise<void> {
  await tx.query(sql`SELECT c.transaction FROM context_claims AS c WHERE c.digest = ${digest} FOR UPDATE`);
}

/** Points a locked claim at another transaction. */
export async function repointClaim(tx: Queries, digest: Buffer, transaction: string): Promise<void> {
  await tx.query(sql`UPDATE context_claims AS c SET transaction = ${transaction} WHERE c.digest = ${digest}`);
}
