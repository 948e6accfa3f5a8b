import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { PartWithdrawalState, StandingPart } from '../domain/part-withdrawal.ts';
import { partEvents } from './events.ts';

/**
 * Parts of a committed transaction, or of all transactions of a subject whose answers are in force or may
 * come into force: newest transaction first, and within a transaction in the order of the form.
 */
export function readStandingParts(
  db: Queries,
  of: { transaction: string } | { subject: string },
): Promise<StandingPart[]> {
  const which =
    'subject' in of
      ? sql`t.subject = ${of.subject} AND t.state IN ('COMMITTED', 'SUBMITTED')`
      : sql`t.id = ${of.transaction} AND t.state = 'COMMITTED'`;
  return db.query(sql`
    SELECT f.sid, f.location, f.name, f.state, f.reason, f.shown, f.transaction, f.withdrawal,
           coalesce(t.context->>'object', '') AS object, w.changed_at AS "withdrawnAt",
           w.parent AS "withdrawalParent"
      FROM transactions AS t JOIN followers AS f ON f.transaction = t.id
      LEFT JOIN transactions AS w ON w.id = f.withdrawal
     WHERE ${which}
     ORDER BY t.created_at DESC, t.id, f.place`);
}

/** Stores for each part the order to tell its owner that it was withdrawn, and the notices, as QUEUED. */
export async function orderPartWithdrawals(
  tx: Queries,
  { withdrawal, sids }: { withdrawal: string; sids: readonly string[] },
  source: string,
): Promise<void> {
  await tx.query(sql`
    WITH f AS (
      UPDATE followers
         SET withdrawal = ${withdrawal}, withdrawal_state = 'QUEUED', withdrawal_since = accord_now()
       WHERE sid = ANY(${sids}::text[])
      RETURNING *
    ), noticed AS (
      INSERT INTO notices (transaction, recipient, kind, name, state, version, since)
      SELECT DISTINCT ON (f.location) f.withdrawal, f.location, 'PEER', f.name, 'QUEUED', 1, accord_now() FROM f
    ) ${partEvents('withdrawn', { from: sql`f`, source })}`);
}

/**
 * Writes what has become of an order, unless the owner has acknowledged it before. Idempotent.
 * @returns false if no withdrawal of this part is ordered, or if the part belongs to another owner.
 */
export async function changePartWithdrawal(
  tx: Queries,
  { sid, location, state }: { sid: string; location: string; state: PartWithdrawalState },
): Promise<boolean> {
  const isPart = sql`f.sid = ${sid} AND f.location = ${location} AND f.withdrawal IS NOT NULL`;
  // Several orders may have one notice. They are changed one by one, so that the last sees all others.
  await lockNotices(tx, isPart);
  const [changed] = await tx.query<{ withdrawal: string }>(sql`
    UPDATE followers AS f
       SET withdrawal_state = CASE WHEN f.withdrawal_state = 'ACKNOWLEDGED' THEN 'ACKNOWLEDGED' ELSE ${state} END,
           withdrawal_since = CASE WHEN f.withdrawal_state IN ('ACKNOWLEDGED', ${state}) THEN f.withdrawal_since
                                   ELSE accord_now() END
     WHERE ${isPart} RETURNING f.withdrawal`);
  if (!changed) return false;
  await changeNotices(tx, [changed.withdrawal]);
  return true;
}

const overdueHours = 72;

/**
 * Marks orders as OVERDUE and publishes their events again, in case they were lost. A delivery that is still
 * queued is not queued twice. @returns how many, at most `limit`.
 */
export async function markOverdueWithdrawals(tx: Queries, limit: number, source: string): Promise<number> {
  const due = await tx.query<{ sid: string; withdrawal: string }>(sql`
    SELECT f.sid, f.withdrawal FROM followers AS f
     WHERE f.withdrawal_state = 'QUEUED'
       AND f.withdrawal_since <= accord_now() - ${overdueHours} * interval '1 hour'
     ORDER BY f.withdrawal_since LIMIT ${limit}`);
  if (due.length === 0) return 0;
  const sids = due.map(({ sid }) => sid);
  await lockNotices(tx, sql`f.sid = ANY(${sids}::text[])`);
  await tx.query(sql`
    WITH f AS (
      UPDATE followers AS f SET withdrawal_state = 'OVERDUE', withdrawal_since = accord_now()
       WHERE f.sid = ANY(${sids}::text[]) AND f.withdrawal_state = 'QUEUED'
      RETURNING *
    ) ${partEvents('withdrawn', { from: sql`f`, source })}`);
  await changeNotices(
    tx,
    due.map(({ withdrawal }) => withdrawal),
  );
  return due.length;
}

/**
 * Publishes the events of OVERDUE orders again every 72 hours, in case the event or the report was lost.
 * @returns how many, at most `limit`.
 */
export async function repeatOverdueWithdrawals(tx: Queries, limit: number, source: string): Promise<number> {
  const repeated = await tx.query(sql`
    WITH due AS MATERIALIZED (
      SELECT f.sid FROM followers AS f
       WHERE f.withdrawal_state = 'OVERDUE'
         AND greatest(f.resent_at, f.withdrawal_since) <= accord_now() - ${overdueHours} * interval '1 hour'
       ORDER BY greatest(f.resent_at, f.withdrawal_since) LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), f AS (
      UPDATE followers AS f SET resent_at = accord_now() WHERE f.sid = ANY(ARRAY(SELECT d.sid FROM due AS d))
      RETURNING f.*
    ), published AS (${partEvents('withdrawn', { from: sql`f`, source })}
    )
    SELECT FROM f`);
  return repeated.length;
}

/**
 * For metrics: parts whose owners have not acknowledged a withdrawal in time, or not carried out an erasure
 * that was requested in the last 90 days; counted up to 100,000.
 */
export async function countOverdue(db: Queries): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    SELECT count(*)::int AS count
      FROM (SELECT f.sid FROM followers AS f WHERE f.withdrawal_state = 'OVERDUE'
             UNION ALL
            SELECT p.sid FROM part_erasures AS p
             WHERE p.state = 'OVERDUE' AND p.created_at > accord_now() - interval '90 days' LIMIT 100000) AS o`);
  return count;
}

/** Locks the notices of the parts `f` that meet a condition, always in the same order. */
async function lockNotices(tx: Queries, condition: Statement): Promise<void> {
  await tx.query(sql`
    SELECT FROM notices AS n
     WHERE (n.transaction, n.recipient) IN (SELECT f.withdrawal, f.location FROM followers AS f WHERE ${condition})
     ORDER BY n.transaction, n.recipient FOR UPDATE`);
}

/** Derives notices from the orders to a peer: the worst state of any of them counts. */
async function changeNotices(tx: Queries, withdrawals: readonly string[]): Promise<void> {
  await tx.query(sql`
    UPDATE notices AS n SET state = told.state, version = n.version + 1, since = accord_now()
      FROM (SELECT DISTINCT ON (f.withdrawal, f.location) f.withdrawal, f.location, f.withdrawal_state AS state
              FROM followers AS f WHERE f.withdrawal = ANY(${withdrawals}::text[])
             ORDER BY f.withdrawal, f.location, array_position(
                   ARRAY['FAILED', 'UNSUPPORTED', 'OVERDUE', 'QUEUED', 'ACKNOWLEDGED'], f.withdrawal_state)) AS told
     WHERE n.transaction = told.withdrawal AND n.recipient = told.location AND n.kind = 'PEER'
       AND n.state <> told.state`);
}
