import type { Queries } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { endOverdue } from '../queries/change-state.ts';

const batch = 500;

/** Work that is done again and again until it is stopped. */
export interface Sweeper {
  start(): void;
  stop(): Promise<void>;
}

/** Ends transactions past their deadline, as TIMEOUT or ROLLBACK; readers see it before (docs/interface.md, "States" and docs/interface.md). @param everyMs at most 10 s. */
export function createDeadlineSweeper({
  db,
  source,
  wake,
  log,
  everyMs,
}: {
  db: Queries;
  source: string;
  wake: () => void;
  log: Logger;
  everyMs: number;
}): Sweeper {
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  async function sweep(): Promise<void> {
    try {
      let ended: Awaited<ReturnType<typeof endOverdue>>;
      do {
        ended = await endOverdue(db, batch, source);
        if (ended.count > 0) wake();
        // Who is told to stop leaves the rest to others.
      } while (ended.more && timer);
    } catch (error) {
      log.warn('deadlines are looked at again later', { error });
    }
  }
  const next = () => {
    timer = setTimeout(() => {
      sweeping = sweep().finally(() => timer && next());
    }, everyMs);
  };
  return {
    start: next,
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await sweeping;
    },
  };
}
