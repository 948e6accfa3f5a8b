import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import { forgetApplied } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { deleteOldDeliveries } from '../queries/deliveries.ts';

/** Deliveries and inbox entries are kept for this long. */
export const keptDays = 30;

const everyMs = 5 * 60_000;
/** Rows per statement, so that no statement runs long. */
const limit = 1_000;

/** Deletes old deliveries and inbox entries every five minutes. */
export function createOldDeliverySweeper({ db, log }: { db: Database; log: Logger }): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const deleteBatch of [deleteOldDeliveries, forgetApplied])
        while (!isStopped() && (await deleteBatch(db, { days: keptDays, limit })) === limit);
    },
    onError: (error) => log.warn('failed to delete old deliveries; retried in 5 minutes', { error }),
  });
}
