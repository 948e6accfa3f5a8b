import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { deleteExpiredItems } from '../queries/issuer-items.ts';
import { removeOldTries } from '../queries/sign-in-tries.ts';

const everyMs = 5 * 60_000;

/** Removes what is over: it counts for nothing any more, and only takes room. */
export function createExpirySweeper({ db, log }: { db: Database; log: Logger }): {
  start(): void;
  stop(): Promise<void>;
} {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const sweep = async () => {
    try {
      await deleteExpiredItems(db);
      await removeOldTries(db);
    } catch (error) {
      log.warn('what is over could not be removed', { error });
    }
  };
  return {
    start() {
      timer = setInterval(() => {
        running = sweep();
      }, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
