import type { OwnerVerdict, PeerSummary } from '#lib/contracts/parts.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { ownKeys } from '../domain/withdrawal.ts';
import {
  hasMaxRows,
  insertVerdict,
  lockVerdict,
  type PeerPartKey,
  type StoredVerdict,
} from '../queries/peer-parts.ts';
import { readTransaction } from '../queries/transactions.ts';
import { lockSubject, readStanding } from '../queries/withdrawals.ts';
import type { AcceptDependencies } from './accept-part.ts';
import { endHeldPart, notReceived } from './decide-part.ts';
import { withdraw } from './withdraw-consents.ts';

/**
 * Withdraws the consents of a part that its leader withdrew, unless they were answered again since
 * (docs/withdrawal.md, "Peers"). A held part is rolled back, and an unknown one is refused when it arrives:
 * so its answers never come into force. Idempotent: a repeated request finds nothing
 * left.
 * @throws Failure `unavailable`: nothing was withdrawn.
 */
export async function withdrawPart(
  dependencies: AcceptDependencies,
  { peer, sid }: { peer: PeerSummary; sid: string },
): Promise<OwnerVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: peer.url, sid };
  const { verdict: before, transaction: id } = await db.withTransaction(async (tx) => {
    const known = (await lockVerdict(tx, key)) ?? (await refuseOnArrival(tx, key));
    const { verdict, transaction } = known;
    if (transaction === null) return known;
    if (verdict === 'held') await endHeldPart(dependencies, tx, { key, transaction, decision: 'rollback' });
    if (verdict === 'committed') await withdrawAnswers(dependencies, tx, { peer, transaction });
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
 * Withdraws the processings that the transaction of a part accepted, where that is the newest answer and can
 * be withdrawn. Accepted conditions stay.
 */
async function withdrawAnswers(
  dependencies: AcceptDependencies,
  tx: Queries,
  { peer, transaction }: { peer: PeerSummary; transaction: string },
): Promise<void> {
  const read = await readTransaction(tx, transaction);
  if (!read) throw new Error('the transaction of a part does not exist');
  const { transaction: parent } = read;
  const { subject, context } = parent;
  await lockSubject(tx, subject);
  const own = ownKeys(parent);
  const answers = await readStanding(tx, { subject, object: context.object ?? '', keys: own });
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  await withdraw(dependencies, tx, {
    principal,
    request: { keys: undefined, peers: [], comment: null },
    own,
    standing: answers.standing.filter((answer) => answer.transaction === transaction),
    parts: [],
    clock: answers.clock,
    parent,
  });
}
