import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { Dependencies as ServiceDependencies } from '../commands/dependencies.ts';
import {
  deferRollback,
  deleteOverdue,
  listUndecided,
  stopAsking,
  verdictEvent,
} from '../queries/deliveries.ts';

type Dependencies = ServiceDependencies & { metrics?: DeliveryMetrics | undefined };

const everyMs = 15_000;
/** Rows per database transaction, so that no transaction runs long. */
const limit = 200;
/** How long after the deadline an undecided part is rolled back, if no request since then was answered. */
const graceMinutes = 5;

/** Ends overdue deliveries, also to peers that are not paired, and rolls undecided parts back. */
export function createOverdueSweeper(dependencies: Dependencies): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const work of [expireDeliveries, rollBackUndecided])
        while (!isStopped() && (await work(dependencies)) === limit);
    },
    onError: (error) =>
      dependencies.log.warn('failed to end overdue deliveries; retried in 15 seconds', { error }),
  });
}

async function expireDeliveries({ db, baseUrl, log, metrics, wakeRelay }: Dependencies): Promise<number> {
  const expired = await db.withTransaction(async (tx) => {
    const rows = await deleteOverdue(tx, limit);
    for (const row of rows)
      await addToOutbox(tx, 'accord.peer-outcomes', verdictEvent(row, { verdict: 'expired' }, baseUrl));
    return rows;
  });
  if (expired.length > 0) wakeRelay();
  for (const { kind, url, sid } of expired) {
    metrics?.attempted({ kind: `peer-${kind}`, outcome: 'given-up' });
    log.error('delivery to peer expired; not retried', { operation: kind, address: url, id: sid });
  }
  return expired.length;
}

async function rollBackUndecided({ db, transactions, log }: Dependencies): Promise<number> {
  const undecided = await listUndecided(db, { minutes: graceMinutes, limit });
  for (const { sid, peer } of undecided) {
    const about = { address: peer.url, id: sid };
    try {
      const { verdict } = await transactions.decideSubmission({ peer, sid, decision: 'rollback' });
      await stopAsking(db, { url: peer.url, sid });
      if (verdict === 'rolledback')
        log.error('part without a decision in time is rolled back; its leader is no longer asked', about);
      else log.info('part was decided before; its leader is no longer asked', { ...about, code: verdict });
    } catch (error) {
      // The part moves to the end of the queue, so that parts that fail do not block the others.
      await deferRollback(db, { url: peer.url, sid });
      log.error('failed to roll back a held part; retried in 5 minutes', { ...about, error });
    }
  }
  return undecided.length;
}
