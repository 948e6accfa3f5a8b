import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type EventBus, sharedReader } from '#lib/events/event-bus.ts';
import { applyOnce } from '#lib/events/inbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { type CommitDependencies, commitSubmitted } from '../answer/commit-submitted.ts';
import { rollBack } from '../answer/end-transactions.ts';
import { queueBadNews } from '../messages/queue.ts';
import type { ReportedVerdict } from '../sent-parts/notice.ts';
import { applyToNotice } from '../sent-parts/notices-store.ts';
import { moveAfter, movesInCommitMode } from '../sent-parts/part.ts';
import { type PartOfTransaction, readPart, summarizeParts } from '../sent-parts/store.ts';
import { readTransaction } from '../transaction/store.ts';
import { stateAt } from '../transaction/transaction.ts';
import {
  changePart,
  createCommittedVerdictWriter,
  lockTransactionOf,
  readDrop,
  releaseCommit,
  type WriteCommittedVerdict,
} from './store.ts';

const consumer = 'transactions';

export interface VerdictDependencies extends CommitDependencies {
  db: Database;
  /** Wakes the outbox relay. */
  wake: () => void;
  log: Logger;
  /** The name under which events are noted as applied. */
  consumer: string;
  writeCommittedVerdict: WriteCommittedVerdict;
}

/** Subscribes to the verdicts of owners on our parts. */
export function followVerdicts({
  bus,
  ...dependencies
}: Omit<VerdictDependencies, 'consumer' | 'writeCommittedVerdict'> & { bus: EventBus }): void {
  const { db, instance } = dependencies;
  const writeCommittedVerdict = createCommittedVerdictWriter(db, { consumer, source: instance.baseUrl });
  bus.subscribe('accord.peer-outcomes', sharedReader({ name: consumer, db }), ({ id, data }) =>
    applyVerdict(
      { ...dependencies, consumer, writeCommittedVerdict },
      { eventId: id, verdict: data as ReportedVerdict },
    ),
  );
}

/**
 * Applies an owner's verdict to its part and, under `together`, to the transaction. Idempotent by event id.
 */
export async function applyVerdict(
  dependencies: VerdictDependencies,
  { eventId, verdict }: { eventId: string; verdict: ReportedVerdict },
): Promise<void> {
  const { db, wake, log, consumer, writeCommittedVerdict } = dependencies;
  const { submission: sid, peer: location, id: remoteId } = verdict;
  // Only a part that is done takes the fast path. Other verdicts may cause a decision for the owner, or bad
  // news.
  const isCommitted = verdict.verdict === 'done' && isAboutPart(verdict);
  const written = isCommitted
    ? await writeCommittedVerdict({ eventId, sid, location, remoteId, moves: movesInCommitMode(verdict) })
    : undefined;
  if (written?.wasDropped) await logInForce(db, log, verdict);
  const mustWake =
    written?.applied ||
    (await db.withTransaction((tx) =>
      applyOnce(tx, { consumer, eventId }, () => apply(dependencies, tx, verdict)),
    ));
  if (mustWake) wake();
}

function isAboutPart({ about }: ReportedVerdict): boolean {
  return about === 'part' || about === 'decision';
}

async function apply(
  dependencies: VerdictDependencies,
  tx: Queries,
  verdict: ReportedVerdict,
): Promise<void> {
  const { instance, log } = dependencies;
  const { submission: sid, peer } = verdict;
  if (verdict.about === 'erasure') {
    await applyToNotice(tx, verdict);
    return;
  }
  // Verdicts on parts of one transaction are applied one after the other: the last must see all others.
  await lockTransactionOf(tx, sid);
  const part = await readPart(tx, sid);
  if (verdict.about === 'withdrawal') {
    const isKnown = await applyToNotice(tx, verdict);
    // The subject has withdrawn this part, so not all parts can take effect: all are rolled back.
    if (isKnown && part?.transactionState === 'SUBMITTED' && part.state !== 'WAITING')
      await decideTransaction(dependencies, tx, part, { isHeld: false, hasFailed: false });
    return;
  }
  if (part?.location !== peer) {
    log.warn('peer gave a verdict on a part that is unknown or not its own; ignored', {
      id: sid,
      address: peer,
    });
    return;
  }
  const move = moveAfter(part, verdict);
  if (!move) return;
  if (part.state === 'DROPPED') await logInForce(tx, log, verdict);
  await changePart(tx, { sid, ...move, remoteId: verdict.id }, instance.baseUrl);
  const hasFailed = move.state === 'REFUSED' || move.state === 'DROPPED';
  await decideTransaction(dependencies, tx, part, { isHeld: move.state === 'HELD', hasFailed });
}

/**
 * Logs that a dropped part is in force at its owner: as an error for administrators, or as information if the
 * owner was asked to erase it anyway.
 */
async function logInForce(
  db: Queries,
  log: Logger,
  { submission: id, peer: address }: ReportedVerdict,
): Promise<void> {
  const { isErasureRequested, ...drop } = await readDrop(db, id);
  log[isErasureRequested ? 'info' : 'error']('peer committed a dropped part; it is in force at the peer', {
    id,
    address,
    ...drop,
  });
}

/**
 * After a change of a part: rolls its SUBMITTED transaction back if a part has failed or was withdrawn, or
 * the deadline has passed; commits it if all parts are held. For a COMMITTED one it releases `commit` to an
 * owner that holds its part, and queues the mail about a failed part. The statement that ends a transaction
 * releases its decisions.
 */
async function decideTransaction(
  dependencies: VerdictDependencies,
  tx: Queries,
  part: PartOfTransaction,
  { isHeld, hasFailed }: { isHeld: boolean; hasFailed: boolean },
): Promise<void> {
  const source = dependencies.instance.baseUrl;
  const { transaction: id, transactionState: state, expiresAt, now } = part;
  if (state !== 'SUBMITTED') {
    if (state !== 'COMMITTED') return;
    // An owner may hold a part that was sent with mode `commit`.
    if (isHeld) await releaseCommit(tx, part, source);
    else if (hasFailed) await queueBadNewsOf(dependencies, tx, id);
    return;
  }
  const { allHeld, anyFailed, anyWithdrawn } = await summarizeParts(tx, id);
  const isOver =
    anyFailed || anyWithdrawn || stateAt({ state, awaitsCode: false, expiresAt }, now) !== 'SUBMITTED';
  if (!isOver && !allHeld) return;
  if (!isOver && (await commitSubmitted(tx, dependencies, { id }))) return;
  const rolledBack = await rollBack(tx, sql`SELECT ${id}::text`, source);
  await queueBadNews(tx, dependencies.messaging, rolledBack);
}

/** Queues the mail about committed answers of which an owner has not stored its part. */
async function queueBadNewsOf({ messaging }: VerdictDependencies, tx: Queries, id: string): Promise<void> {
  const read = await readTransaction(tx, id);
  if (read) await queueBadNews(tx, messaging, [read.transaction]);
}
