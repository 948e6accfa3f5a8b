import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { forgetTokenIds } from '../queries/seen-tokens.ts';

const everyMs = 60_000;

/** Removes ids of tokens that are over: they could not be good again, and only take room. */
export function createTokenSweeper({ db, log }: { db: Database; log: Logger }): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    work: () => forgetTokenIds(db),
    onError: (error) => log.warn('ids of old tokens could not be removed', { error }),
  });
}
