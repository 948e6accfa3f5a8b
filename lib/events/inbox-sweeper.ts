import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Queries } from '#lib/db/database.ts';
import { forgetApplied } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** Several times as long as any topic that has such a reader keeps its events. */
const keptDays = 30;
/** So many rows a statement, so that none takes long. */
const limit = 1_000;

/** Keeps an inbox from growing for ever: removes notes of events that are too old to come again. @param everyMs five minutes if not given. */
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
    onError: (error) => log.warn('notes of old events could not be removed', { error }),
  });
}
