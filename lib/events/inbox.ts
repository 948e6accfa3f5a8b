import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { Logger } from '#lib/observability/logger.ts';

/**
 * Applies the effect of an event at most once. The event is recorded in the transaction of the effect, so a
 * concurrent attempt waits and then finds the record (docs/reliability.md).
 * @param tx the transaction, which the caller commits. @param consumer the reader's name.
 * @returns whether the effect ran.
 */
export async function applyOnce(
  tx: Queries,
  { consumer, eventId }: { consumer: string; eventId: string },
  effect: () => Promise<void>,
): Promise<boolean> {
  const noted = await tx.maybeOne(noteOnce({ consumer, eventId }));
  if (noted === undefined) return false;
  await effect();
  return true;
}

/**
 * The SQL form of {@link applyOnce} (`WITH noted AS (${noteOnce(…)}) INSERT … FROM noted`): it returns a row
 * the first time and none later.
 * @param from what stands after FROM, to record events under a condition, or several events.
 */
export function noteOnce(
  { consumer, eventId }: { consumer: string; eventId: string | Statement },
  from: Statement = sql`(SELECT) AS always`,
): Statement {
  return sql`
    INSERT INTO inbox (consumer, event_id) SELECT ${consumer}::text, ${eventId}::uuid FROM ${from}
    ON CONFLICT (consumer, event_id) DO NOTHING
    RETURNING event_id`;
}

/** Removes records of events that can no longer be redelivered. @returns how many. */
export async function forgetApplied(
  db: Queries,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const gone = await db.query(sql`
    DELETE FROM inbox WHERE (consumer, event_id) IN (
      SELECT i.consumer, i.event_id FROM inbox AS i WHERE i.applied_at < now() - ${days} * interval '1 day'
       ORDER BY i.applied_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING event_id`);
  return gone.length;
}

/**
 * Longer than the retention of every topic that has one. The service webhooks skips older events of compacted
 * topics.
 */
const keptDays = 30;
/** Per statement, so that each is short. */
const limit = 1_000;

/** Removes old rows of the inbox. @param everyMs five minutes by default. */
export function createInboxSweeper({
  db,
  log,
  everyMs = 5 * 60_000,
}: {
  db: Queries;
  log: Logger;
  everyMs?: number;
}): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      while (!isStopped() && (await forgetApplied(db, { days: keptDays, limit })) === limit);
    },
    onError: (error) => log.warn('failed to remove old inbox rows; retried later', { error }),
  });
}
