import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Notice } from '../domain/notice.ts';
import type { Transaction } from '../domain/transaction.ts';

/** Notices by transaction, in the order of their names. Only withdrawals have any. */
export async function readNotices(
  db: Queries,
  transactions: readonly Pick<Transaction, 'id' | 'kind'>[],
): Promise<Map<string, Notice[]>> {
  const withdrawals = transactions.filter(({ kind }) => kind === 'WITHDRAWAL');
  if (withdrawals.length === 0) return new Map();
  const rows = await db.query<Notice & { transaction: string }>(sql`
    SELECT n.transaction, n.name, n.kind, n.state, n.outcome, n.note, n.since
      FROM notices AS n WHERE n.transaction = ANY(${withdrawals.map(({ id }) => id)}::text[])
     ORDER BY n.transaction, n.name, n.recipient`);
  return Map.groupBy(rows, ({ transaction }) => transaction);
}

/** Stores the state of the notice to a webhook, unless a newer one is known or the transaction is not. */
export async function storeNotice(
  db: Queries,
  notice: EventData['io.accord.notice.queued.v1'],
): Promise<void> {
  const { transaction, recipient, name, state, outcome = null, note = null, version, since } = notice;
  await db.query(sql`
    INSERT INTO notices AS n (transaction, recipient, kind, name, state, outcome, note, version, since)
    SELECT t.id, ${recipient}, 'RECIPIENT', ${name}, ${state}, ${outcome}, ${note}, ${version}::int, ${since}::timestamptz
      FROM transactions AS t WHERE t.id = ${transaction}
    ON CONFLICT (transaction, recipient) DO UPDATE
       SET name = excluded.name, state = excluded.state, outcome = excluded.outcome, note = excluded.note,
           version = excluded.version, since = excluded.since
     WHERE n.version < excluded.version`);
}
