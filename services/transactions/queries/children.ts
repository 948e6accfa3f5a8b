import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { rollBack, timeOut } from './change-state.ts';
import { toReadTransaction, transactionColumns } from './transaction-columns.ts';

/** Waits for whoever changes the transaction or makes a child of it, until the end of the database transaction. */
export async function lockTransaction(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`SELECT t.id FROM transactions AS t WHERE t.id = ${id} FOR UPDATE`);
}

/** The open child of a transaction that is not past its deadline. */
export async function readOpenChild(db: Queries, parent: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Transaction & { now: Date }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now FROM transactions AS t
     WHERE t.parent = ${parent} AND t.state IN ('CREATED', 'SUBMITTED') AND t.expires_at > accord_now()`);
  return row && toReadTransaction(row);
}

/** Ends a child past its deadline that the sweeper has not reached, so that another one can be made. */
export async function closeExpiredChild(tx: Queries, parent: string, source: string): Promise<void> {
  // By state: one that is being submitted at this moment is not rolled back without its parts.
  const overdue = (state: string) => sql`
    SELECT o.id FROM transactions AS o
     WHERE o.parent = ${parent} AND o.state IN ('CREATED', 'SUBMITTED') AND o.state = ${state} AND o.expires_at <= accord_now()`;
  await timeOut(tx, overdue('CREATED'), source);
  await rollBack(tx, overdue('SUBMITTED'), source);
}
