import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import { forgetApplied } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { keptDays } from '../domain/retention.ts';
import { forgetDeliveries } from '../queries/deliveries.ts';

const everyMs = 5 * 60_000;
/** So many rows a statement, so that none takes long. */
const limit = 1_000;

/** Removes deliveries and notes of events that are older than 30 days. */
export function createForgetter({ db, log }: { db: Database; log: Logger }): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const each of [forgetDeliveries, forgetApplied])
        while (!isStopped() && (await each(db, { days: keptDays, limit })) === limit);
    },
    onError: (error) => log.warn('what is old could not be removed', { error }),
  });
}
