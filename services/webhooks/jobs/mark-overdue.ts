import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { markOverdue } from '../queries/notices.ts';

const everyMs = 5_000;
/** Rows per statement, so that no statement runs long. */
const limit = 1_000;

/** Marks notices as OVERDUE within 5 s of the end of their period. */
export function createOverdueSweeper({
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
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (let count = limit; count === limit && !isStopped(); ) {
        count = await markOverdue(db, { source, limit });
        if (count > 0) wakeRelay();
      }
    },
    onError: (error) => log.warn('failed to mark overdue notices; retried in 5 s', { error }),
  });
}
