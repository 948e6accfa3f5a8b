import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { forgetTokenIds } from '../queries/seen-tokens.ts';

const everyMs = 60_000;

/** Removes ids of tokens that are over: they could not be good again, and only take room. */
export function createTokenSweeper({ db, log }: { db: Database; log: Logger }): {
  start(): void;
  stop(): Promise<void>;
} {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  return {
    start() {
      timer = setInterval(() => {
        running = forgetTokenIds(db).catch((error: unknown) =>
          log.warn('ids of old tokens could not be removed', { error }),
        );
      }, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
