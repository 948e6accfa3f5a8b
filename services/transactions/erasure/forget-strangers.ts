import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { isHeld } from '../standing/holds-store.ts';
import { byStranger } from '../transaction/store.ts';
import { isLeft } from './retention-store.ts';

/** Transactions in one run of {@link forgetStrangers}. */
const batch = 500;

/**
 * Deletes what strangers have begun at the address of a form and not finished, as soon as it has ended: a
 * program that begins many times leaves nothing behind. What has sent a code stays for a day, because the
 * daily limit of its address counts it.
 */
export function createStrangersSweeper({
  db,
  log,
  everyMs,
}: {
  db: Database;
  log: Logger;
  everyMs: number;
}): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      while (!isStopped() && (await db.withTransaction(forgetStrangers)) === batch);
    },
    onError: (error) =>
      log.warn('failed to delete what strangers have not finished; retried at the next interval', { error }),
  });
}

/**
 * SQL: whether a transaction `t` tells of nothing that has happened. Nothing was committed, no owner has got
 * a part, and no other transaction is based on it.
 */
const isForgettable: Statement = sql`(
  t.state IN ('CANCELLED', 'TIMEOUT', 'ROLLBACK') AND t.erased_at IS NULL AND ${byStranger}
  AND NOT EXISTS (SELECT FROM messages AS m
                   WHERE m.transaction = t.id AND m.created_at > accord_now() - interval '1 day')
  AND NOT EXISTS (SELECT FROM sent_parts AS f
                   WHERE f.transaction = t.id AND f.reason IS DISTINCT FROM 'unsent')
  AND NOT EXISTS (SELECT FROM transactions AS c WHERE c.parent = t.id)
  AND NOT ${isLeft(sql`t.subject`)})`;

/** Rows of a transaction in other tables; what is committed, and what peers sent, has more. */
const tables = [
  sql`transaction_history`,
  sql`records`,
  sql`receipt_drafts`,
  sql`codes`,
  sql`messages`,
  sql`sent_parts`,
];

/**
 * Deletes the oldest such transactions, and their subjects if nobody else has named them. Subjects are locked
 * before their transactions, as everywhere; those that are in use are left to the next run.
 * @returns how many were found.
 */
async function forgetStrangers(tx: Queries): Promise<number> {
  const found = await tx.query<{ id: string; subject: string }>(sql`
    SELECT t.id, t.subject FROM transactions AS t WHERE ${isForgettable} ORDER BY t.changed_at LIMIT ${batch}`);
  if (found.length === 0) return 0;
  const locked = await tx.query<{ name: string }>(sql`
    SELECT s.name FROM subjects AS s WHERE s.name = ANY(${found.map(({ subject }) => subject)}::text[])
     ORDER BY s.name FOR UPDATE SKIP LOCKED`);
  const names = locked.map(({ name }) => name);
  const picked = await tx.query<{ id: string }>(sql`
    SELECT t.id FROM transactions AS t
     WHERE t.id = ANY(${found.map(({ id }) => id)}::text[]) AND t.subject = ANY(${names}::text[])
       AND ${isForgettable}
     FOR UPDATE OF t SKIP LOCKED`);
  const ids = picked.map(({ id }) => id);
  for (const table of tables)
    await tx.query(sql`DELETE FROM ${table} AS r WHERE r.transaction = ANY(${ids}::text[])`);
  await tx.query(sql`DELETE FROM transactions AS t WHERE t.id = ANY(${ids}::text[])`);
  await tx.query(sql`
    DELETE FROM subjects AS s
     WHERE s.name = ANY(${names}::text[]) AND s.unproven AND NOT ${isHeld(sql`s.name`)}
       AND NOT EXISTS (SELECT FROM transactions AS t WHERE t.subject = s.name)
       AND NOT EXISTS (SELECT FROM erasures AS e WHERE e.subject = s.name)`);
  return ids.length;
}
