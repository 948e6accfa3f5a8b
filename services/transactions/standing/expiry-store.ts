import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { consentEvents } from '../transaction/events.ts';
import { statusColumns } from './records-store.ts';
import type { DueTransaction, ExpiringRecord, ExpiryNotice } from './status.ts';

/**
 * Sets when the first expiry notice is due, for committed transactions that have no such time yet, such as
 * those that waited for a code. If all answers have expired, no notice is due.
 * SKIP LOCKED: replicas share the work.
 * @returns the number of these transactions.
 */
export async function planNotices(db: Queries, leadMs: number, limit: number): Promise<number> {
  const rows = await db.query(sql`
    UPDATE transactions AS x SET notice_at = coalesce((
        SELECT min(r.expires_at - least(${leadMs}::float8 * interval '1 millisecond',
                                        (r.expires_at - r.committed_at) / 10))
          FROM records AS r
         WHERE r.transaction = x.id AND r.state = 'COMMITTED' AND r.expires_at > accord_now()), 'infinity')
     WHERE x.id IN (SELECT t.id FROM transactions AS t WHERE t.state = 'COMMITTED' AND t.notice_at IS NULL
                    ORDER BY t.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING x.id`);
  return rows.length;
}

/** Transactions with a due expiry notice, the longest overdue first, and the database's time. */
export async function readDueTransactions(
  db: Queries,
  limit: number,
): Promise<{ due: DueTransaction[]; now: Date }> {
  const rows = await db.query<{ id: string; dueAt: string; now: Date }>(sql`
    SELECT t.id, t.notice_at::text AS "dueAt", accord_now() AS now FROM transactions AS t
     WHERE t.state = 'COMMITTED' AND t.notice_at < 'infinity' AND t.notice_at <= accord_now()
     ORDER BY t.notice_at LIMIT ${limit}`);
  const [first] = rows;
  if (!first) return { due: [], now: new Date() };
  const records = await db.query<ExpiringRecord & { transaction: string }>(sql`
    SELECT r.transaction, ${statusColumns}, r.committed_at AS "committedAt" FROM records AS r
     WHERE r.transaction = ANY(${rows.map(({ id }) => id)}::text[]) AND r.expires_at IS NOT NULL`);
  const byTransaction = Map.groupBy(records, ({ transaction }) => transaction);
  const due = rows.map(({ id, dueAt }) => ({ id, dueAt, records: byTransaction.get(id) ?? [] }));
  return { due, now: first.now };
}

/**
 * Writes expiry notices and the times of the next ones in one statement. Each is written once: a transaction
 * that another replica has handled has a new due time. Rows are locked by id to avoid deadlocks.
 */
export async function writeNotices(
  db: Queries,
  notices: readonly ExpiryNotice[],
  source: string,
): Promise<void> {
  await db.query(sql`
    WITH given AS (
      SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(notices)}::jsonb)
          AS g (id text, "dueAt" timestamptz, "nextAt" timestamptz, names text[])
    ), locked AS MATERIALIZED (
      SELECT t.id, g."nextAt", g.names FROM transactions AS t JOIN given AS g ON g.id = t.id
       WHERE t.state = 'COMMITTED' AND t.notice_at = g."dueAt" ORDER BY t.id FOR UPDATE OF t
    ), t AS (
      UPDATE transactions AS x SET notice_at = l."nextAt" FROM locked AS l WHERE x.id = l.id
      RETURNING x.id, x.state, x.version, accord_now() AS changed_at, l.names
    ), named AS (
      SELECT t.*, 'io.accord.consent.' || n.name || '.v1' AS type FROM t CROSS JOIN unnest(t.names) AS n (name)
    ), ${consentEvents(sql`named`, sql`s.type`, source)}
    SELECT count(*) FROM t`);
}
