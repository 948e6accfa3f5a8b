import type { Queries } from '#lib/db/database.ts';
import { join, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/cursor.ts';
import type { State } from '../domain/states.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { stateNow } from './state-now.ts';
import { toReadTransaction, transactionColumns } from './transaction-columns.ts';

/** What a list of transactions may be narrowed by. */
export interface TransactionFilter {
  subject?: string;
  states?: State[];
  /** Created at or after. */
  after?: Date;
  /** Created before. */
  before?: Date;
}

type Listed = ReadTransaction & { position: string };

function conditions({ subject, states, after, before }: TransactionFilter) {
  const all = [
    ...(subject === undefined ? [] : [sql`t.subject = ${subject}`]),
    ...(states ? [sql`${stateNow} = ANY(${states}::text[])`] : []),
    // Says nothing new, but names the index of those (transactions_not_committed).
    ...(states && !states.includes('COMMITTED') ? [sql`t.state <> 'COMMITTED'`] : []),
    ...(after ? [sql`t.created_at >= ${after}`] : []),
    ...(before ? [sql`t.created_at < ${before}`] : []),
  ];
  return all.length > 0 ? join(all, ' AND ') : sql`true`;
}

/** A page of transactions, newest first, after a position. */
export async function listTransactions(
  db: Queries,
  filter: TransactionFilter,
  { after, limit, offset = 0 }: { after?: Position; limit: number; offset?: number },
): Promise<Listed[]> {
  const from = after ? sql`AND (t.created_at, t.id) < (${after.createdAt}::timestamptz, ${after.id})` : sql``;
  const rows = await db.query<Transaction & { now: Date; position: string }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, t.created_at::text AS position
      FROM transactions AS t WHERE ${conditions(filter)} ${from}
     ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit} OFFSET ${offset}`);
  return rows.map(({ position, ...row }) => ({ ...toReadTransaction(row), position }));
}

/** How many transactions a filter lets through. */
export async function countTransactions(db: Queries, filter: TransactionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`SELECT count(*) AS count FROM transactions AS t WHERE ${conditions(filter)}`,
  );
  return count;
}
