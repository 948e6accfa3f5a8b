import type { OwnerVerdict, PeerSummary } from '#lib/contracts/parts.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { readClock } from '../standing/answers-store.ts';
import { isEndedByOrder } from '../standing/in-force.ts';
import type { StandingAnswer } from '../standing/standing-answer.ts';
import { storeOrder } from '../standing/store.ts';
import { answersWithin, readAnswers, type WithdrawDependencies, withdraw } from '../withdrawal/withdraw.ts';
import { ownKeys } from '../withdrawal/withdrawal.ts';
import { type DecideDependencies, endHeldPart, refuseOnArrival } from './decide.ts';
import { timeAtLeader } from './peer-part.ts';
import { lockVerdict, readStored } from './store.ts';

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
  dependencies: DecideDependencies & WithdrawDependencies,
  { peer, sid, withdrawn }: { peer: PeerSummary; sid: string; withdrawn?: string | undefined },
): Promise<OwnerVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: peer.url, sid };
  const { verdict: before, transaction: id } = await db.withTransaction(async (tx) => {
    const known = (await lockVerdict(tx, key)) ?? (await refuseOnArrival(tx, key));
    const { verdict, transaction } = known;
    if (transaction === null) return known;
    if (verdict === 'held') await endHeldPart(dependencies, tx, { key, transaction, decision: 'rollback' });
    if (verdict === 'committed') await withdrawAnswers(dependencies, tx, { peer, transaction, withdrawn });
    return known;
  });
  if (before === 'held') metrics?.countVerdict({ verdict: 'rolledback' });
  wake();
  return { verdict: 'withdrawn', ...(id !== null && { id }) };
}

/**
 * Withdraws consents to the processings that a part asked about. The newest answer to the question must be a
 * consent that can be withdrawn. It must come from this part, or from another part of the same leader; in the
 * latter case it must have been given before the person withdrew there, or be the answer to a notice.
 * Accepted conditions stay.
 */
async function withdrawAnswers(
  dependencies: DecideDependencies & WithdrawDependencies,
  tx: Queries,
  { peer, transaction, withdrawn }: { peer: PeerSummary; transaction: string; withdrawn: string | undefined },
): Promise<void> {
  const { subject } = await readStored(tx, transaction);
  await lockSubject(tx, subject);
  // It may have been erased while this request waited.
  const parent = await readStored(tx, transaction);
  if (parent.erasedAt !== null) return;
  const { context } = parent;
  const own = ownKeys(parent);
  const object = context.object ?? '';
  const answers = await readAnswers(tx, { subject, object, keys: own });
  const clock = await readClock(tx);
  const withdrawnAt = withdrawn === undefined ? undefined : timeAtLeader(Date.parse(withdrawn), clock);
  if (withdrawnAt) await storeOrder(tx, { subject, object, keys: own, source: peer.url, withdrawnAt });
  const order = { leader: peer.url, withdrawnAt };
  const isCovered = (answer: StandingAnswer) =>
    isEndedByOrder(
      { ...answer, isOfPart: answer.transaction === transaction, isNotice: answer.positions === null },
      order,
    );
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  await withdraw(dependencies, tx, {
    principal,
    request: { keys: undefined, peers: [], comment: null },
    own,
    standing: answersWithin(answers, isCovered),
    parts: [],
    parent,
    givenAt: withdrawnAt ?? clock,
    orderedBy: peer.url,
  });
}
