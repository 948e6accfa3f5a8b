import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { expiryNotice } from '../domain/expiry-notice.ts';
import { planNotices, readDueTransactions, tellNotices } from '../queries/expiry-notices.ts';

const batch = 200;

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
    const { due, now } = await readDueTransactions(db, batch);
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
      while ((await planNotices(db, leadMs, batch)) === batch && !isStopped());
      while ((await tellBatch()) === batch && !isStopped());
    },
    onError: (error) =>
      log.warn('failed to write notices of expiry; repeated at the next interval', { error }),
  });
}
