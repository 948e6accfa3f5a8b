import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { deleteExpiredItems } from '../queries/issuer-items.ts';
import { removeOldTries } from '../queries/sign-in-tries.ts';

const everyMs = 5 * 60_000;

/** Removes what is over: it counts for nothing any more, and only takes room. */
export function createExpirySweeper({ db, log }: { db: Database; log: Logger }): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work() {
      await deleteExpiredItems(db);
      await removeOldTries(db);
    },
    onError: (error) => log.warn('what is over could not be removed', { error }),
  });
}
