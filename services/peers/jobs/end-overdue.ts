import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { readAhead } from '../commands/read-ahead.ts';
import { dateDelivery, endOverdue, forgetQuestion, listUndated, listUndecided } from '../queries/overdue.ts';

interface Parts {
  db: Database;
  transactions: Pick<TransactionsOperations, 'readSubmissions' | 'decideSubmission'>;
  baseUrl: string;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  wakeRelay: () => void;
}

const everyMs = 15_000;
/** So many at a time, so that no transaction takes long. */
const limit = 200;
/** So long a peer that can be reached has to be asked once more before a part is rolled back unasked. */
const lastChanceMinutes = 5;

/** Ends deliveries whose time is over, whatever state their peer is in. */
export function createOverdueSweeper(parts: Parts): RepeatedWork {
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const each of [dateUnsendable, endParts, rollBackUndecided])
        while (!isStopped() && (await each(parts)) === limit);
    },
    onError: (error) => parts.log.warn('deliveries whose time is over are ended later', { error }),
  });
}

/** What cannot be sent is never attempted, so nobody has asked how long it is to wait. */
async function dateUnsendable({ db, transactions }: Parts): Promise<number> {
  const undated = await listUndated(db, limit);
  const readPart = readAhead(
    transactions,
    undated.map(({ sid }) => sid),
  );
  for (const { url, sid } of undated) {
    const found = await readPart(sid);
    await dateDelivery(db, { url, sid }, found?.deadline ?? null);
  }
  return undated.length;
}

async function endParts({ db, baseUrl, log, metrics, wakeRelay }: Parts): Promise<number> {
  const ended = await db.withTransaction(async (tx) => {
    const rows = await endOverdue(tx, limit);
    for (const { kind, url, sid } of rows)
      if (kind === 'submit')
        await addToOutbox(tx, 'accord.peer-outcomes', {
          type: 'io.accord.submission.answered.v1',
          source: baseUrl,
          subject: sid,
          data: { submission: sid, peer: url, verdict: 'expired' },
        });
    return rows;
  });
  if (ended.length === 0) return 0;
  wakeRelay();
  for (const { kind, url, sid } of ended) {
    metrics?.attempted({ kind: `peer-${kind}`, outcome: 'given-up', ms: 0 });
    log.error('a peer could not be reached until the deadline', { operation: kind, address: url, id: sid });
  }
  return ended.length;
}

async function rollBackUndecided({ db, transactions, log }: Parts): Promise<number> {
  const undecided = await listUndecided(db, { minutes: lastChanceMinutes, most: limit });
  for (const { sid, peer } of undecided) {
    await transactions.decideSubmission({ peer, sid, decision: 'rollback' });
    await forgetQuestion(db, { url: peer.url, sid });
    log.error('a decision never came, and the part was rolled back', { address: peer.url, id: sid });
  }
  return undecided.length;
}
