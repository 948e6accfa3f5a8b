import type { Database } from '#lib/db/database.ts';
import { forgetApplied } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { keptDays } from '../domain/retention.ts';
import { forgetDeliveries } from '../queries/deliveries.ts';

const everyMs = 5 * 60_000;
/** So many rows a statement, so that none takes long. */
const limit = 1_000;

/** Removes deliveries and notes of events that are older than 30 days. */
export function createForgetter({ db, log }: { db: Database; log: Logger }): {
  start(): void;
  stop(): Promise<void>;
} {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  const forget = async () => {
    try {
      for (const each of [forgetDeliveries, forgetApplied])
        while (!stopped && (await each(db, { days: keptDays, limit })) === limit);
    } catch (error) {
      log.warn('what is old could not be removed', { error });
    }
  };
  return {
    start() {
      timer = setInterval(() => {
        running = forget();
      }, everyMs);
      timer.unref();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
