import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { EarlierRecord } from '../domain/earlier-answers.ts';
import type { ReadTransaction, Transaction } from '../domain/transaction.ts';
import { newestRecord } from './read-earlier.ts';
import { toReadTransaction, transactionColumns } from './transaction-columns.ts';

type Row = Transaction & { now: Date };

/** A transaction by id, with the database's time. */
export async function readTransaction(db: Queries, id: string): Promise<ReadTransaction | undefined> {
  const row = await db.maybeOne<Row>(sql`
    SELECT ${transactionColumns}, accord_now() AS now FROM transactions AS t WHERE t.id = ${id}`);
  return row && toReadTransaction(row);
}

/** {@link readTransaction} and, in the same statement, the body of its receipt, which it has from COMMITTED on. */
export async function readTransactionWithReceipt(
  db: Queries,
  id: string,
): Promise<(ReadTransaction & { receipt: string | null }) | undefined> {
  const row = await db.maybeOne<Row & { receipt: string | null }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, r.body AS receipt
      FROM transactions AS t LEFT JOIN receipts AS r ON r.transaction = t.id
     WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { receipt, ...rest } = row;
  return { ...toReadTransaction(rest), receipt };
}

/** {@link readTransaction} and, in the same statement, the subject's earlier answers to its layout; none if it is silent. */
export async function readTransactionWithEarlier(
  db: Queries,
  id: string,
): Promise<(ReadTransaction & { earlier: EarlierRecord[] }) | undefined> {
  const row = await db.maybeOne<Row & { earlier: StoredEarlier[] }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now,
           CASE WHEN (t.context->>'silent')::boolean THEN '[]'::jsonb ELSE (
             SELECT coalesce(jsonb_agg(to_jsonb(newest)), '[]'::jsonb)
               FROM jsonb_array_elements_text(t.layout->'elements') AS element (key)
              CROSS JOIN LATERAL (${newestRecord(sql`t.subject`, sql`coalesce(t.context->>'object', '')`)}) AS newest)
           END AS earlier
      FROM transactions AS t WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { earlier, ...rest } = row;
  return { ...toReadTransaction(rest), earlier: earlier.map(fromJson) };
}

type StoredEarlier = Omit<EarlierRecord, 'committedAt' | 'expiresAt'> & {
  committedAt: string;
  expiresAt: string | null;
};

function fromJson(stored: StoredEarlier): EarlierRecord {
  return {
    ...stored,
    committedAt: new Date(stored.committedAt),
    expiresAt: stored.expiresAt ? new Date(stored.expiresAt) : null,
  };
}
