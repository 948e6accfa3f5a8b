import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import { forgetApplied } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { deleteOldDeliveries } from '../queries/deliveries.ts';
import { changeMessages, deleteOldNotices, undeliverableMessages } from '../queries/notices.ts';

/** Deliveries and inbox entries are kept for this long. */
export const keptDays = 30;

const everyMs = 5 * 60_000;
/** Rows per statement, so that no statement runs long. */
const limit = 1_000;

/** Longer than an acknowledgement may take after the last attempt of a delivery. */
const noticeDays = 90;

/**
 * Deletes old deliveries, inbox entries and notices every five minutes, and marks notices as FAILED whose
 * delivery was deleted.
 */
export function createOldDeliverySweeper({
  db,
  log,
  source,
  wakeRelay,
}: {
  db: Database;
  log: Logger;
  source: string;
  wakeRelay: () => void;
}): RepeatedWork {
  /** @returns whether there may be more. */
  async function failBatch(): Promise<boolean> {
    const messages = await undeliverableMessages(db, { days: keptDays, limit });
    await db.withTransaction((tx) => changeMessages(tx, { messages, state: 'FAILED' }, source));
    wakeRelay();
    return messages.length === limit;
  }

  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const deleteBatch of [deleteOldDeliveries, forgetApplied])
        while (!isStopped() && (await deleteBatch(db, { days: keptDays, limit })) === limit);
      while (!isStopped() && (await failBatch()));
      while (!isStopped() && (await deleteOldNotices(db, { days: noticeDays, limit })) === limit);
    },
    onError: (error) => log.warn('failed to delete old deliveries; retried in 5 minutes', { error }),
  });
}
