import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { applyOnce } from '#lib/events/inbox.ts';
import { sharedReader } from '#lib/events/reader.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { confirmSubmission, type SubmitDependencies } from '../commands/submit-answers.ts';
import { moveFollower, movesInForce, type SubmissionAnswer } from '../domain/part.ts';
import { stateAt } from '../domain/transaction.ts';
import { rollBack } from '../queries/change-state.ts';
import { readHolding } from '../queries/commit-transaction.ts';
import { tellOfPart } from '../queries/events.ts';
import {
  changeFollower,
  createLateAnswers,
  type LateAnswer,
  type LateOutcome,
  lockTransactionOf,
  readFollower,
} from '../queries/parts.ts';
import { readTransaction } from '../queries/transactions.ts';

const consumer = 'transactions';

/** Takes note of what peers said of the parts that they were sent. */
export function followOutcomes({
  bus,
  ...dependencies
}: Omit<OutcomeDependencies, 'consumer' | 'applyLate'> & { bus: EventBus }): void {
  const { db, instance } = dependencies;
  const applyLate = createLateAnswers(db, { consumer, source: instance.baseUrl });
  bus.subscribe('accord.peer-outcomes', sharedReader({ name: consumer, db }), ({ id, data }) =>
    applyOutcome({ ...dependencies, consumer, applyLate }, { eventId: id, answer: data as SubmissionAnswer }),
  );
}

export type OutcomeDependencies = Pick<
  SubmitDependencies,
  'instance' | 'signReceipt' | 'updateUrl' | 'wake'
> & {
  db: Database;
  log: Logger;
  /** What peers said is applied under this name. */
  consumer: string;
  applyLate: (answer: LateAnswer) => Promise<LateOutcome>;
};

/**
 * Applies what a peer said of its part: the part's state and, under `together`, what follows from it for the whole transaction, in one COMMIT.
 * The same event again changes nothing.
 */
export async function applyOutcome(
  dependencies: OutcomeDependencies,
  { eventId, answer }: { eventId: string; answer: SubmissionAnswer },
): Promise<void> {
  const { db, wake, consumer } = dependencies;
  const told = { consumer, eventId };
  const late = await applyWhenInForce(dependencies, eventId, answer);
  const applied = late.known
    ? late.changed
    : await db.withTransaction((tx) => applyOnce(tx, told, () => apply(dependencies, tx, answer)));
  if (applied) wake();
}

/** Most words come when all is in force: nothing hangs on them but what is known of the part. One that is held waits to hear so. */
async function applyWhenInForce(
  { applyLate }: OutcomeDependencies,
  eventId: string,
  answer: SubmissionAnswer,
): Promise<LateOutcome> {
  if (answer.verdict === 'held') return { known: false, changed: false };
  const { submission: sid, peer: location, id: remoteId } = answer;
  return applyLate({ eventId, sid, location, remoteId, moves: movesInForce(answer) });
}

async function apply(
  dependencies: OutcomeDependencies,
  tx: Queries,
  answer: SubmissionAnswer,
): Promise<void> {
  const { instance, log } = dependencies;
  const { submission: sid, peer } = answer;
  // Whoever else changes the transaction waits, so that of two last words one finds that it is the last.
  const transaction = await lockTransactionOf(tx, sid);
  const follower = transaction === undefined ? undefined : await readFollower(tx, sid);
  if (transaction === undefined || follower?.location !== peer) {
    log.warn('a peer answered for a part that is not its own', { id: sid, address: peer });
    return;
  }
  const move = moveFollower(follower, answer);
  if (!move) return;
  if (follower.state === 'DROPPED')
    log.error('a peer has put in force what was taken back', { id: sid, address: peer });
  await changeFollower(tx, { sid, ...move, remoteId: answer.id }, instance.baseUrl);
  await settle(dependencies, tx, { id: transaction, sid, peer, isHeld: move.state === 'HELD' });
}

/** One that is lost loses all; when the last one is held, all come into force (docs/interface.md, "States"). */
async function settle(
  dependencies: OutcomeDependencies,
  tx: Queries,
  { id, sid, peer, isHeld }: { id: string; sid: string; peer: string; isHeld: boolean },
): Promise<void> {
  const source = dependencies.instance.baseUrl;
  const read = await readTransaction(tx, id);
  if (!read) return;
  if (read.transaction.state !== 'SUBMITTED') {
    // It holds what was in force already when it was sent.
    if (isHeld) await tellOfPart(tx, { sid, location: peer }, { source, decision: 'commit' });
    return;
  }
  const { all, lost } = await readHolding(tx, id);
  const isOver = lost || stateAt(read.transaction, read.now) !== 'SUBMITTED';
  if (!isOver && !all) return;
  if (isOver || !(await confirmSubmission(tx, dependencies, id)))
    await rollBack(tx, sql`SELECT ${id}::text`, source);
}
