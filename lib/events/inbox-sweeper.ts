import type { Queries } from '#lib/db/database.ts';
import { forgetApplied } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** Several times as long as any topic that has such a reader keeps its events. */
const keptDays = 30;
/** So many rows a statement, so that none takes long. */
const limit = 1_000;

/** Work in the background that keeps an inbox from growing for ever. */
export interface InboxSweeper {
  start(): void;
  stop(): Promise<void>;
}

/** Removes notes of events that are too old to come again. @param everyMs five minutes if not given. */
export function createInboxSweeper({
  db,
  log,
  everyMs = 5 * 60_000,
}: {
  db: Queries;
  log: Logger;
  everyMs?: number;
}): InboxSweeper {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  async function sweep(): Promise<void> {
    try {
      while (!stopped && (await forgetApplied(db, { days: keptDays, limit })) === limit);
    } catch (error) {
      log.warn('notes of old events could not be removed', { error });
    }
  }
  return {
    start() {
      timer = setInterval(() => {
        running = sweep();
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
