import type { OwnerVerdict, PeerSummary } from '#lib/contracts/parts.ts';
import type { Queries } from '#lib/db/database.ts';
import { type ErasureDependencies, openErasure } from '../erasure/erase.ts';
import { wasRefused } from '../erasure/store.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { ensureSubject } from '../person/store.ts';
import { type DecideDependencies, endHeldPart, refuseOnArrival } from './decide.ts';
import { lockVerdict, readStored } from './store.ts';

type Dependencies = DecideDependencies & ErasureDependencies;

/**
 * Answers a leader that has erased the person of a part (docs/erasure.md, "Peers"). A held part is rolled
 * back, and one that has not arrived is refused when it does. What was stored is erased by an erasure of all
 * that this peer has sent of the person: an administrator starts or refuses it, unless this instance follows
 * the peer. Idempotent.
 * @param given.follows whether the erasure starts at once.
 * @throws Failure `unavailable`.
 */
export async function erasePart(
  dependencies: Dependencies,
  { peer, sid, follows }: { peer: PeerSummary; sid: string; follows: boolean },
): Promise<OwnerVerdict> {
  const { db, metrics, wake, wakeErasure } = dependencies;
  const key = { peer: peer.url, sid };
  const { before, answer } = await db.withTransaction(async (tx) => {
    const known = (await lockVerdict(tx, key)) ?? (await refuseOnArrival(tx, key));
    const { verdict, transaction } = known;
    if (transaction === null) return { before: verdict, answer: { verdict: 'erased' } as const };
    if (verdict === 'held') await endHeldPart(dependencies, tx, { key, transaction, decision: 'rollback' });
    const erased = await eraseStored(dependencies, tx, { peer: peer.url, transaction, follows });
    return { before: verdict, answer: erased };
  });
  if (before === 'held') metrics?.countVerdict({ verdict: 'rolledback' });
  wake();
  wakeErasure();
  return answer;
}

async function eraseStored(
  dependencies: Dependencies,
  tx: Queries,
  { peer, transaction: id, follows }: { peer: string; transaction: string; follows: boolean },
): Promise<OwnerVerdict> {
  const { subject: name } = await readStored(tx, id);
  await lockSubject(tx, name);
  // It may have been erased while this request waited.
  const { createdAt, erasedAt } = await readStored(tx, id);
  if (erasedAt !== null) return { verdict: 'erased', id };
  const subject = await ensureSubject(tx, name);
  if (await wasRefused(tx, { peer, reference: subject.id, after: createdAt }))
    return { verdict: 'refused', reason: 'kept', id };
  const state = follows ? 'RUNNING' : 'REQUESTED';
  await openErasure(dependencies, tx, subject, { state, reason: null, peer });
  return { verdict: 'noted', id };
}
