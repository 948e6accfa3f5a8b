import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { eraseTransactions } from './erase-transactions.ts';
import {
  deleteUnused,
  findAbandoned,
  findOver,
  findUnused,
  isAbandoned,
  isOver,
  type Outlived,
  pickOutlived,
} from './retention-store.ts';
import { endRequestsOfPeers } from './store.ts';

interface RetentionDependencies {
  db: Database;
  log: Logger;
  /** `abandonedRetention` and `recordRetention`; without the latter answers are kept. */
  instance: Pick<Instance, 'baseUrl' | 'abandonedRetention' | 'recordRetention'>;
  /** Wakes the outbox relay. */
  wake: () => void;
  everyMs: number;
}

/** Transactions of each kind, and subjects, in one run, so that a run takes few seconds. */
const batch = 200;

/**
 * Erases transactions whose retention has ended, and deletes subjects without transactions (docs/erasure.md,
 * "Retention"). Each run looks at the next transactions and subjects. The run after the newest ones
 * starts again with the oldest. Where the next run starts is kept in memory only.
 */
export function createRetention(dependencies: RetentionDependencies): RepeatedWork {
  const { db, log, instance, everyMs } = dependencies;
  let afterSubject: Position | undefined;
  let after: Position | undefined;
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      const { abandonedRetention: abandoned, recordRetention: records } = instance;
      for (const found of await findAbandoned(db, abandoned, batch))
        if (!isStopped()) await erase(dependencies, found, isAbandoned(abandoned));
      const subjects = await findUnused(db, { retention: abandoned, after: afterSubject, limit: batch });
      for (const { name } of subjects.filter(({ unused }) => unused))
        if (!isStopped())
          await db.withTransaction(async (tx) => {
            await lockSubject(tx, name);
            await deleteUnused(tx, name, abandoned);
            await endRequestsOfPeers(tx, name);
          });
      afterSubject = positionAfter(subjects);
      if (records === null) return;
      const looked = await findOver(db, { retention: records, after, limit: batch });
      for (const found of looked)
        if (found.over && !isStopped()) await erase(dependencies, found, isOver(records));
      after = positionAfter(looked);
    },
    onError: (error) =>
      log.warn('failed to erase transactions after their retention; retried at the next interval', { error }),
  });
}

/** Where the next run goes on; undefined after the end of the list. */
function positionAfter(looked: readonly { position: string; id: string }[]): Position | undefined {
  const last = looked.at(-1);
  return last && looked.length === batch ? { createdAt: last.position, id: last.id } : undefined;
}

async function erase(
  { db, instance, wake }: RetentionDependencies,
  found: Outlived,
  ended: Statement,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    await lockSubject(tx, found.subject);
    const picked = await pickOutlived(tx, found, ended);
    if (picked.length === 0) return;
    await eraseTransactions(tx, picked, { erasure: undefined, source: instance.baseUrl });
    await deleteUnused(tx, found.subject, instance.abandonedRetention);
    await endRequestsOfPeers(tx, found.subject);
  });
  wake();
}
