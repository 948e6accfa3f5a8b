import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { deleteOverdue, listUndecided, stopAsking } from '../queries/deliveries.ts';

interface Dependencies {
  db: Database;
  transactions: Pick<TransactionsOperations, 'decideSubmission'>;
  baseUrl: string;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  wakeRelay: () => void;
}

const everyMs = 15_000;
/** Rows per database transaction, so that no transaction runs long. */
const limit = 200;
/** How long after the deadline the leader is still asked; then the part is rolled back. */
const lastAnswerMinutes = 5;

/** Ends overdue deliveries, also to peers that are not paired, and rolls undecided parts back. */
export function createOverdueSweeper(dependencies: Dependencies): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const work of [endDeliveries, rollBackUndecided])
        while (!isStopped() && (await work(dependencies)) === limit);
    },
    onError: (error) =>
      dependencies.log.warn('failed to end overdue deliveries; retried in 15 seconds', { error }),
  });
}

async function endDeliveries({ db, baseUrl, log, metrics, wakeRelay }: Dependencies): Promise<number> {
  const ended = await db.withTransaction(async (tx) => {
    const rows = await deleteOverdue(tx, limit);
    for (const { url, sid } of rows)
      await addToOutbox(tx, 'accord.peer-outcomes', {
        type: 'io.accord.submission.answered.v1',
        source: baseUrl,
        subject: sid,
        data: { submission: sid, peer: url, verdict: 'expired' },
      });
    return rows;
  });
  if (ended.length > 0) wakeRelay();
  for (const { kind, url, sid } of ended) {
    metrics?.attempted({ kind: `peer-${kind}`, outcome: 'given-up', ms: 0 });
    log.error('delivery to peer expired; not retried', { operation: kind, address: url, id: sid });
  }
  return ended.length;
}

async function rollBackUndecided({ db, transactions, log }: Dependencies): Promise<number> {
  const undecided = await listUndecided(db, { minutes: lastAnswerMinutes, limit });
  for (const { sid, peer } of undecided) {
    await transactions.decideSubmission({ peer, sid, decision: 'rollback' });
    await stopAsking(db, { url: peer.url, sid });
    log.error('held part rolled back: its leader sent no decision in time', { address: peer.url, id: sid });
  }
  return undecided.length;
}
