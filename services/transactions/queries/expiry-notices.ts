import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { DueTransaction, ExpiryNotice, StatusFacts } from '../domain/records.ts';
import { consentEvents } from './events.ts';
import { isNewest } from './records.ts';

/**
 * Plans the notices of transactions that were committed without: answers that have expired already are no news.
 * SKIP LOCKED: several replicas share the work. @returns how many were planned.
 */
export async function planNotices(db: Queries, leadMs: number, limit: number): Promise<number> {
  const rows = await db.query(sql`
    UPDATE transactions AS x SET notice_at = coalesce((
        SELECT min(r.expires_at - least(${leadMs}::float8 * interval '1 millisecond', (r.expires_at - r.committed_at) / 10))
          FROM records AS r WHERE r.transaction = x.id AND r.state = 'COMMITTED' AND r.expires_at > accord_now()), 'infinity')
     WHERE x.id IN (SELECT t.id FROM transactions AS t WHERE t.state = 'COMMITTED' AND t.notice_at IS NULL
                    ORDER BY t.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING x.id`);
  return rows.length;
}

/** Transactions of which a notice is due, the longest overdue first, and the database's time. */
export async function readDueTransactions(
  db: Queries,
  limit: number,
): Promise<{ due: DueTransaction[]; now: Date }> {
  const rows = await db.query<{ id: string; dueAt: string; now: Date }>(sql`
    SELECT t.id, t.notice_at::text AS "dueAt", accord_now() AS now FROM transactions AS t
     WHERE t.state = 'COMMITTED' AND t.notice_at < 'infinity' AND t.notice_at <= accord_now() ORDER BY t.notice_at LIMIT ${limit}`);
  const [first] = rows;
  if (!first) return { due: [], now: new Date() };
  const records = await db.query<StatusFacts & { transaction: string; expiresAt: Date }>(sql`
    SELECT r.transaction, r.state, r.key, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial", r.expires_at AS "expiresAt", ${isNewest} AS newest
      FROM records AS r WHERE r.transaction = ANY(${rows.map(({ id }) => id)}::text[]) AND r.expires_at IS NOT NULL`);
  const byTransaction = Map.groupBy(records, ({ transaction }) => transaction);
  const due = rows.map(({ id, dueAt, now }) => {
    const own = byTransaction.get(id) ?? [];
    // All expire together; without any there is nothing to wait for.
    return { id, dueAt, records: own, expiresAt: own[0]?.expiresAt ?? now };
  });
  return { due, now: first.now };
}

/**
 * Writes notices and when the next ones are due in one statement, so that each is told exactly once however many replicas work: a row
 * whose notice was told meanwhile is due at another time. Rows are locked in the order of their ids, so that replicas do not deadlock.
 */
export async function tellNotices(
  db: Queries,
  notices: readonly ExpiryNotice[],
  source: string,
): Promise<void> {
  await db.query(sql`
    WITH given AS (
      SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(notices)}::jsonb) AS g (id text, "dueAt" timestamptz, "nextAt" timestamptz, name text)
    ), locked AS MATERIALIZED (
      SELECT t.id, g."nextAt", g.name FROM transactions AS t JOIN given AS g ON g.id = t.id
       WHERE t.state = 'COMMITTED' AND t.notice_at = g."dueAt" ORDER BY t.id FOR UPDATE OF t
    ), t AS (
      UPDATE transactions AS x SET notice_at = l."nextAt" FROM locked AS l WHERE x.id = l.id
      RETURNING x.id, x.state, x.version, accord_now() AS changed_at, l.name
    ), told AS (
      SELECT t.*, 'io.accord.consent.' || t.name || '.v1' AS type FROM t WHERE t.name IS NOT NULL
    ), ${consentEvents(sql`told`, sql`s.type`, source)}
    SELECT count(*) FROM t`);
}
