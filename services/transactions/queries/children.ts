import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { rollBack, timeOut } from './change-state.ts';
import { toReadTransaction, transactionColumns } from './transaction-columns.ts';

/** Waits for whoever makes a child of the same parent, until the end of the database transaction. */
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
  const overdue = sql`
    SELECT o.id FROM transactions AS o
     WHERE o.parent = ${parent} AND o.state IN ('CREATED', 'SUBMITTED') AND o.expires_at <= accord_now()`;
  await timeOut(tx, overdue, source);
  await rollBack(tx, overdue, source);
}
