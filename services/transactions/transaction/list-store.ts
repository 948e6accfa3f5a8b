import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { stateNow, toReadTransaction, transactionColumns } from './store.ts';
import type { ReadTransaction, State, Transaction } from './transaction.ts';

/** Kinds by which lists can be searched (openapi.yaml, `kinds`). */
export const listedKinds = ['FORM', 'ON_BEHALF', 'WITHDRAWAL', 'IMPORT'] as const;
export type ListedKind = (typeof listedKinds)[number];

/** Filters of a list. The time of creation is at or after `after`, and before `before`. */
export interface TransactionFilter {
  subject?: string;
  states?: State[];
  kind?: ListedKind;
  after?: Date;
  before?: Date;
}

/** A transaction in a list. */
export interface ListedTransaction extends ReadTransaction {
  kinds: ListedKind[];
  /** The time of its creation as the database has it, for the cursor. */
  position: string;
}

/**
 * Whether a transaction `t` is of a kind. A withdrawal may end nothing but parts of peers, and an answer may
 * end a consent, so the last one has two signs; each is found by an index of its own.
 */
const isOfKind: Readonly<Record<ListedKind, Statement>> = {
  FORM: sql`t.kind IS NULL AND NOT t.context ? 'collection'`,
  ON_BEHALF: sql`t.kind IS NULL AND t.context ? 'collection'`,
  IMPORT: sql`t.kind = 'IMPORT'`,
  WITHDRAWAL: sql`t.id IN (
    SELECT w.id FROM transactions AS w WHERE w.kind = 'WITHDRAWAL'
     UNION ALL
    SELECT r.transaction FROM records AS r WHERE r.withdraws IS NOT NULL AND r.committed_at IS NOT NULL)`,
};

/** SQL of all kinds of a transaction `t`: the same conditions, read by the key of the row. */
const kinds = sql`array_remove(ARRAY[
  CASE WHEN ${isOfKind.FORM} THEN 'FORM' WHEN ${isOfKind.ON_BEHALF} THEN 'ON_BEHALF'
       WHEN ${isOfKind.IMPORT} THEN 'IMPORT' END,
  CASE WHEN t.kind = 'WITHDRAWAL' OR EXISTS (
    SELECT FROM records AS r
     WHERE r.transaction = t.id AND r.withdraws IS NOT NULL AND r.committed_at IS NOT NULL) THEN 'WITHDRAWAL' END
  ], NULL)`;

function conditions({ subject, states, kind, after, before }: TransactionFilter) {
  const all = [
    ...(subject === undefined ? [] : [sql`t.subject = ${subject}`]),
    ...(states ? [sql`${stateNow} = ANY(${states}::text[])`] : []),
    // Redundant; lets PostgreSQL use the index transactions_not_committed.
    ...(states && !states.includes('COMMITTED') ? [sql`t.state <> 'COMMITTED'`] : []),
    ...(kind ? [isOfKind[kind]] : []),
    ...(after ? [sql`t.created_at >= ${after}`] : []),
    ...(before ? [sql`t.created_at < ${before}`] : []),
  ];
  return all.length > 0 ? join(all, ' AND ') : sql`true`;
}

/** A page of transactions, newest first. */
export async function listTransactions(
  db: Queries,
  filter: TransactionFilter,
  { after, limit, offset = 0 }: { after?: Position; limit: number; offset?: number },
): Promise<ListedTransaction[]> {
  const from = after ? sql`AND (t.created_at, t.id) < (${after.createdAt}::timestamptz, ${after.id})` : sql``;
  const rows = await db.query<Transaction & { now: Date; kinds: ListedKind[]; position: string }>(sql`
    SELECT ${transactionColumns}, ${kinds} AS kinds, accord_now() AS now, t.created_at::text AS position
      FROM transactions AS t WHERE ${conditions(filter)} ${from}
     ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit} OFFSET ${offset}`);
  return rows.map(({ position, kinds: ofRow, ...row }) => ({
    ...toReadTransaction(row),
    kinds: ofRow,
    position,
  }));
}

export async function countTransactions(db: Queries, filter: TransactionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`SELECT count(*) AS count FROM transactions AS t WHERE ${conditions(filter)}`,
  );
  return count;
}
