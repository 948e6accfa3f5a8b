import { isNotice } from '#lib/contracts/element-rules.ts';
import type { OwnerVerdict, PeerSummary } from '#lib/contracts/parts.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { timeAtLeader } from '../domain/peer-part.ts';
import type { Transaction } from '../domain/transaction.ts';
import { consentOn, ownKeys, type StandingAnswer } from '../domain/withdrawal.ts';
import {
  hasMaxRows,
  insertVerdict,
  lockVerdict,
  noteWithdrawal,
  type PeerPartKey,
  type StoredVerdict,
} from '../queries/peer-parts.ts';
import { readTransaction } from '../queries/transactions.ts';
import { lockSubject, readReceiptBodies, readStanding } from '../queries/withdrawals.ts';
import type { AcceptDependencies } from './accept-part.ts';
import { endHeldPart, notReceived } from './decide-part.ts';
import { withdraw } from './withdraw-consents.ts';

/**
 * Withdraws the consents to the questions of a part that its leader withdrew: the consents of the part, and
 * consents that were given in other parts of this leader before `order.withdrawn`. Answers that were given at
 * this instance stay. Later answers at this leader stay, too, unless they answer a notice: forms show notices
 * without a choice (docs/withdrawal.md, "Peers"). A held part is rolled back, and an unknown one
 * is refused when it arrives: so its answers never come into force. Idempotent: a repeated request finds
 * nothing left.
 * @param order.withdrawn when the person withdrew at the leader (RFC 3339); leaders of earlier releases do
 * not say.
 * @throws Failure `unavailable`: nothing was withdrawn.
 */
export async function withdrawPart(
  dependencies: AcceptDependencies,
  { peer, sid, withdrawn }: { peer: PeerSummary; sid: string; withdrawn?: string | undefined },
): Promise<OwnerVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: peer.url, sid };
  const { verdict: before, transaction: id } = await db.withTransaction(async (tx) => {
    const known = (await lockVerdict(tx, key)) ?? (await refuseOnArrival(tx, key));
    const { verdict, transaction } = known;
    if (transaction === null) return known;
    if (verdict === 'held') await endHeldPart(dependencies, tx, { key, transaction, decision: 'rollback' });
    if (verdict === 'committed')
      await withdrawAnswers(dependencies, tx, { peer, sid, transaction, withdrawn });
    return known;
  });
  if (before === 'held') metrics?.countVerdict({ verdict: 'rolledback' });
  wake();
  return { verdict: 'withdrawn', ...(id !== null && { id }) };
}

/**
 * Stores that a part is refused when it arrives. Waits for a database transaction that stores the part.
 * @throws Failure `unavailable` if the peer has too many parts that have not arrived.
 */
export async function refuseOnArrival(tx: Queries, key: PeerPartKey): Promise<StoredVerdict> {
  if (await hasMaxRows(tx, key.peer, 'notReceived'))
    throw fail(
      'unavailable',
      'Too many parts of this peer were ended before they arrived. Try again later.',
      {
        headers: { 'Retry-After': '3600' },
      },
    );
  if (await insertVerdict(tx, key, notReceived)) return notReceived;
  return (await lockVerdict(tx, key)) as StoredVerdict;
}

/**
 * Withdraws consents to the processings that a part asked about. The newest answer to the question must be a
 * consent that can be withdrawn. It must come from this part, or from another part of the same leader; in the
 * latter case it must have been given before the person withdrew there, or be the answer to a notice.
 * Accepted conditions stay.
 */
async function withdrawAnswers(
  dependencies: AcceptDependencies,
  tx: Queries,
  {
    peer,
    sid,
    transaction,
    withdrawn,
  }: { peer: PeerSummary; sid: string; transaction: string; withdrawn: string | undefined },
): Promise<void> {
  const { subject } = await readStored(tx, transaction);
  await lockSubject(tx, subject);
  // It may have been erased while this request waited.
  const parent = await readStored(tx, transaction);
  if (parent.erasedAt !== null) return;
  const { context } = parent;
  const own = ownKeys(parent);
  const answers = await readStanding(tx, { subject, object: context.object ?? '', keys: own });
  const stated = withdrawn === undefined ? undefined : timeAtLeader(Date.parse(withdrawn), answers.clock);
  if (stated) await noteWithdrawal(tx, { peer: peer.url, sid }, stated);
  const ofLeader = answers.standing.filter(({ leader }) => leader === peer.url);
  const notices = await readNotices(tx, ofLeader);
  const isCovered = (answer: StandingAnswer) =>
    answer.transaction === transaction ||
    (stated !== undefined &&
      ofLeader.includes(answer) &&
      (answer.givenAt <= stated || notices.includes(answer)));
  // If the answer in force is not covered, nothing is withdrawn for its question, not even a covered answer
  // that waits.
  const first = (key: string) => answers.standing.find((answer) => answer.key === key) as StandingAnswer;
  const covered = answers.standing.filter((answer) => isCovered(answer) && isCovered(first(answer.key)));
  // Earlier releases do not state when the person withdrew; then it is taken to be after all these answers.
  const after = Math.max(...[answers.clock, ...covered.map((answer) => answer.givenAt)].map(Number)) + 1;
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  await withdraw(dependencies, tx, {
    principal,
    request: { keys: undefined, peers: [], comment: null },
    own,
    standing: covered,
    parts: [],
    clock: answers.clock,
    parent,
    givenAt: stated ?? new Date(after),
  });
}

/** The transaction that stores a part. */
export async function readStored(tx: Queries, id: string): Promise<Transaction> {
  const read = await readTransaction(tx, id);
  if (!read) throw new Error('the transaction of a part does not exist');
  return read.transaction;
}

/** The answers among these that were given to notices, by the texts on their receipts. */
async function readNotices(tx: Queries, answers: readonly StandingAnswer[]): Promise<StandingAnswer[]> {
  const bodies = await readReceiptBodies(
    tx,
    answers.map((answer) => answer.transaction),
  );
  return answers.filter(({ transaction, key }) => {
    const body = bodies.get(transaction);
    const consent = body === undefined ? undefined : consentOn(JSON.parse(body) as ReceiptBody, key);
    return consent !== undefined && isNotice(consent.identifier, consent.texts);
  });
}
