import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { endOverdue } from './answer/end-transactions.ts';
import { deleteEndedChoicesLinks } from './choices/links-store.ts';
import { deleteUnclaimed } from './documents/store.ts';
import { type Messaging, queueBadNews } from './messages/queue.ts';
import { deleteOldChoicesMessages } from './messages/store.ts';
import { deleteOldVerdicts, repeatHeldEvents } from './received-parts/store.ts';
import { dropUnreported, repeatPartEvents } from './sent-parts/lost-events-store.ts';
import { repeatNotices } from './sent-parts/notices-store.ts';
import { readActiveVersions } from './standing/active-versions.ts';
import { planNotices, readDueTransactions, writeNotices } from './standing/expiry-store.ts';
import { expiryNotice } from './standing/status.ts';
import { deleteOldOrders } from './standing/store.ts';
import { deleteEndedLinks } from './transaction/short-links-store.ts';

interface JobDependencies {
  db: Queries;
  log: Logger;
  /** BASE_URL */
  source: string;
  /** Wakes the outbox relay. */
  wake: () => void;
  everyMs: number;
}

const deadlineBatch = 500;
const documentBatch = 20;

/**
 * Ends transactions past their deadline or whose last code has expired (docs/interface.md, "States"), and
 * deletes scans that no transaction took.
 */
export function createDeadlineSweeper({
  db,
  log,
  messaging,
  source,
  wake,
  everyMs,
}: Omit<JobDependencies, 'db'> & { db: Database; messaging: Messaging }): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      let ended: Awaited<ReturnType<typeof endOverdue>>;
      do {
        ended = await db.withTransaction(async (tx) => {
          const batch = await endOverdue(tx, deadlineBatch, source);
          await queueBadNews(tx, messaging, batch.rolledBack);
          return batch;
        });
        if (ended.count > 0) wake();
      } while (ended.more && !isStopped());
      while (!isStopped() && (await deleteUnclaimed(db, documentBatch)) === documentBatch);
    },
    onError: (error) =>
      log.warn('failed to end transactions past their deadline; retried at the next interval', { error }),
  });
}

const noticeBatch = 200;

/**
 * Writes `consent.expiring` and `consent.expired` for committed transactions, once each, by the database's
 * time. An interrupted run is repeated: a notice and the time of the next one are written together.
 * @param dependencies.leadMs EXPIRY_NOTICE: the longest time from `expiring` to the expiry of the answers.
 */
export function createExpiryNotifier({
  db,
  forms,
  log,
  source,
  wake,
  leadMs,
  everyMs,
}: JobDependencies & {
  forms: Pick<FormsOperations, 'activeVersions'>;
  leadMs: number;
}): RepeatedWork {
  async function writeBatch(): Promise<number> {
    const { due, now } = await readDueTransactions(db, noticeBatch);
    if (due.length === 0) return 0;
    const active = await readActiveVersions(
      forms,
      due.flatMap(({ records }) => records),
    );
    const notices = due.map((each) => expiryNotice(each, { active, leadMs, now }));
    await writeNotices(db, notices, source);
    wake();
    return due.length;
  }
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      while ((await planNotices(db, leadMs, noticeBatch)) === noticeBatch && !isStopped());
      while ((await writeBatch()) === noticeBatch && !isStopped());
    },
    onError: (error) => log.warn('failed to write expiry notices; retried at the next interval', { error }),
  });
}

const overdueBatch = 200;

/**
 * Marks withdrawals and erasures of parts as OVERDUE that peers have not acknowledged in time, and asks
 * again (docs/withdrawal.md and docs/erasure.md, "Peers"). If an event about a part may be lost, publishes it
 * again; and ends parts on which no verdict was reported in time (docs/operations.md, "Events about parts
 * were lost").
 */
export function createPartSweeper({
  db,
  log,
  messaging,
  source,
  wake,
  everyMs,
}: Omit<JobDependencies, 'db'> & { db: Database; messaging: Messaging }): RepeatedWork {
  async function endUnreported(tx: Queries): Promise<number> {
    const ended = await dropUnreported(tx, overdueBatch, source);
    const transactions = new Map(ended.map(({ transaction }) => [transaction.id, transaction]));
    await queueBadNews(tx, messaging, [...transactions.values()]);
    for (const { sid: id, location: address, transaction } of ended)
      log.error('part on which no verdict was reported is dropped; it may be in force at the peer', {
        id,
        address,
        transaction: transaction.id,
      });
    return ended.length;
  }
  const changes = [repeatNotices, repeatPartEvents, repeatHeldEvents, endUnreported];
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const change of changes) {
        let changed: number;
        do {
          changed = await db.withTransaction((tx) => change(tx, overdueBatch, source));
          if (changed > 0) wake();
        } while (changed === overdueBatch && !isStopped());
      }
    },
    onError: (error) =>
      log.warn('failed to look for overdue parts, withdrawals and erasures; retried at the next interval', {
        error,
      }),
  });
}

const verdictBatch = 1_000;
const sweeps = [
  deleteOldVerdicts,
  deleteOldOrders,
  deleteEndedLinks,
  deleteEndedChoicesLinks,
  deleteOldChoicesMessages,
];

/**
 * Deletes old verdicts that have no transaction: refusals, and verdicts on decisions, withdrawals and
 * erasures whose part never arrived; orders of leaders that no part can be older than; and links that have
 * ended, with the messages that had them.
 */
export function createVerdictSweeper({ db, log }: Pick<JobDependencies, 'db' | 'log'>): RepeatedWork {
  return createRepeatedWork({
    everyMs: 5 * 60_000,
    async work(isStopped) {
      for (const deleteOld of sweeps)
        while (!isStopped() && (await deleteOld(db, verdictBatch)) === verdictBatch);
    },
    onError: (error) =>
      log.warn('failed to delete old verdicts on parts; retried at the next interval', { error }),
  });
}
