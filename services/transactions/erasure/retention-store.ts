import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { withdrawalNotice } from '../sent-parts/notices-store.ts';
import { forgetHolds, isHeld } from '../standing/holds-store.ts';
import type { Picked } from './erase-transactions.ts';

/** A transaction whose retention may have ended. */
export interface Outlived {
  id: string;
  subject: string;
}

/** SQL: whether the retention of a transaction `t` that was never committed has ended. */
export function isAbandoned(retention: string): Statement {
  return sql`(t.state IN ('CANCELLED', 'TIMEOUT', 'ROLLBACK')
         AND t.changed_at < accord_now() - ${retention}::interval)`;
}

/**
 * SQL: whether each answer and part of a committed transaction `t` has been over for the retention, by the
 * table of docs/erasure.md, "Retention".
 */
export function isOver(retention: string): Statement {
  const limit = sql`accord_now() - ${retention}::interval`;
  return sql`(t.state = 'COMMITTED' AND NOT EXISTS (
           SELECT FROM records AS r
            WHERE r.transaction = t.id
              AND NOT CASE WHEN r.from_position IS NULL THEN r.committed_at < ${limit}
                           ELSE coalesce(r.until_at < ${limit}, false)
                                OR coalesce(r.expires_at < ${limit} AND r.value <> '{refused}', false) END)
         AND NOT EXISTS (
           SELECT FROM sent_parts AS f LEFT JOIN ${withdrawalNotice} LEFT JOIN transactions AS w ON w.id = n.withdrawal
            WHERE f.transaction = t.id
              AND (f.state IN ('SENDING', 'HELD', 'ACCEPTED') OR f.state = 'DROPPED' AND f.reason = 'expired')
              AND NOT coalesce(n.state = 'ACKNOWLEDGED' AND w.changed_at < ${limit}, false)
              AND coalesce(f.changed_at + f.validity::interval >= ${limit}, true))
         AND NOT EXISTS (
           SELECT FROM notices AS n JOIN sent_parts AS f ON f.sid = n.recipient
             JOIN transactions AS o ON o.id = f.transaction
            WHERE n.about = t.id AND n.kind = 'PEER' AND o.erased_at IS NULL))`;
}

/**
 * SQL: whether a retention leaves the data of a subject: while a hold is in force, and while an erasure runs,
 * which finds what it covers by what each transaction is based on.
 */
export function isLeft(subject: Statement): Statement {
  return sql`(${isHeld(subject)} OR EXISTS (
           SELECT FROM erasures AS e
            WHERE e.subject = ${subject} AND e.state IN ('RUNNING', 'HELD')))`;
}

/** The oldest transactions that were never committed and whose retention has ended. */
export function findAbandoned(db: Queries, retention: string, limit: number): Promise<Outlived[]> {
  return db.query<Outlived>(sql`
    SELECT t.id, t.subject FROM transactions AS t
     WHERE ${isAbandoned(retention)} AND t.erased_at IS NULL AND NOT ${isLeft(sql`t.subject`)}
     ORDER BY t.changed_at LIMIT ${limit}`);
}

/**
 * Looks at the next transactions of a list, oldest first.
 * @returns each with its position, and whether the retention of its answers has ended.
 */
export function findOver(
  db: Queries,
  { retention, after, limit }: { retention: string; after: Position | undefined; limit: number },
): Promise<(Outlived & { position: string; over: boolean })[]> {
  const from = after ? sql`AND (o.created_at, o.id) > (${after.createdAt}::timestamptz, ${after.id})` : sql``;
  return db.query(sql`
    SELECT t.id, t.subject, t.created_at::text AS position,
           t.erased_at IS NULL AND NOT ${isLeft(sql`t.subject`)} AND ${isOver(retention)} AS over
      FROM (SELECT o.* FROM transactions AS o
             WHERE o.created_at < accord_now() - ${retention}::interval ${from}
             ORDER BY o.created_at, o.id LIMIT ${limit}) AS t
     ORDER BY t.created_at, t.id`);
}

/**
 * Locks a transaction that is to be erased, after a second check that its retention has ended. A transaction
 * with an open child is left, because the child shows its answers.
 */
export function pickOutlived(tx: Queries, { id, subject }: Outlived, ended: Statement): Promise<Picked[]> {
  return tx.query<Picked>(sql`
    SELECT t.id, t.context FROM transactions AS t
     WHERE t.id = ${id} AND t.subject = ${subject} AND t.erased_at IS NULL AND ${ended} AND NOT ${isLeft(sql`t.subject`)}
       AND NOT EXISTS (SELECT FROM transactions AS c
                        WHERE c.parent = t.id AND c.state IN ('CREATED', 'SUBMITTED'))
     FOR NO KEY UPDATE OF t SKIP LOCKED`);
}

/**
 * Looks at the next subjects of a list, oldest first.
 * @returns each with its position, and whether it has no transactions, no erasure and no hold in force, and
 * has not changed for the retention.
 */
export function findUnused(
  db: Queries,
  { retention, after, limit }: { retention: string; after: Position | undefined; limit: number },
): Promise<{ id: string; name: string; position: string; unused: boolean }[]> {
  const from = after
    ? sql`AND (o.created_at, o.id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT s.id, s.name, s.created_at::text AS position,
           s.modified_at < accord_now() - ${retention}::interval
             AND NOT EXISTS (SELECT FROM transactions AS t WHERE t.subject = s.name)
             AND NOT EXISTS (SELECT FROM erasures AS e WHERE e.subject = s.name AND e.peer IS NULL)
             AND NOT ${isHeld(sql`s.name`)} AS unused
      FROM (SELECT o.* FROM subjects AS o
             WHERE o.created_at < accord_now() - ${retention}::interval ${from}
             ORDER BY o.created_at, o.id LIMIT ${limit}) AS s
     ORDER BY s.created_at, s.id`);
}

/**
 * Deletes a locked subject with its ended hold, if it has no transactions, no erasure and no hold in force,
 * and has not changed for the retention.
 */
export async function deleteUnused(tx: Queries, subject: string, retention: string): Promise<void> {
  const unused = await tx.query<{ name: string }>(sql`
    DELETE FROM subjects AS s
     WHERE s.name = ${subject} AND s.modified_at < accord_now() - ${retention}::interval
       AND NOT ${isHeld(sql`s.name`)}
       AND NOT EXISTS (SELECT FROM transactions AS t WHERE t.subject = s.name)
       AND NOT EXISTS (SELECT FROM erasures AS e WHERE e.subject = s.name AND e.peer IS NULL)
    RETURNING s.name`);
  await forgetHolds(
    tx,
    unused.map(({ name }) => name),
  );
}
