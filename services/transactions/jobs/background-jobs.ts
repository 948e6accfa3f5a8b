import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { expiryNotice } from '../domain/records.ts';
import { endOverdue } from '../queries/change-state.ts';
import { planNotices, readDueTransactions, tellNotices } from '../queries/expiry-notices.ts';

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

const noticeBatch = 200;

/**
 * Writes `consent.expiring` and `consent.expired` for committed transactions, once each, by the database's time. Work that is interrupted is
 * found again: a notice and the time of the next one are written together.
 * @param leadMs how long before the answers expire `expiring` is told, at most.
 */
export function createExpiryTeller({
  db,
  forms,
  source,
  leadMs,
  everyMs,
  wake,
  log,
}: {
  db: Queries;
  forms: Pick<FormsOperations, 'activeVersions'>;
  source: string;
  leadMs: number;
  everyMs: number;
  wake: () => void;
  log: Logger;
}): RepeatedWork {
  async function tellBatch(): Promise<number> {
    const { due, now } = await readDueTransactions(db, noticeBatch);
    if (due.length === 0) return 0;
    const keys = due.flatMap(({ records }) => records.flatMap(({ key, infoKey }) => [key, infoKey]));
    const active = await forms.activeVersions({ keys: [...new Set(keys)] });
    await tellNotices(
      db,
      due.map((each) => expiryNotice(each, active, now)),
      source,
    );
    wake();
    return due.length;
  }
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      while ((await planNotices(db, leadMs, noticeBatch)) === noticeBatch && !isStopped());
      while ((await tellBatch()) === noticeBatch && !isStopped());
    },
    onError: (error) =>
      log.warn('failed to write notices of expiry; repeated at the next interval', { error }),
  });
}
