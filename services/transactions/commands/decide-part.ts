import type { Decision, SendingPeer, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { rollBack } from '../queries/change-state.ts';
import {
  changeVerdict,
  insertVerdict,
  isFull,
  lockVerdict,
  type PeerPartKey,
  type StoredVerdict,
} from '../queries/peer-parts.ts';
import { type AcceptDependencies, presentVerdict } from './accept-part.ts';
import { confirmSubmission } from './submit-answers.ts';

/** A part on which the leader decided before it arrived; it is refused when it does. */
const notReceived: StoredVerdict = { digest: null, verdict: 'rolledback', reason: null, transaction: null };

/**
 * Applies the leader's decision to a part that is held. The first decision stands (docs/federation.md,
 * "Answers at their owner").
 * @throws Failure `unavailable`: the decision is not applied.
 */
export async function decidePart(
  dependencies: AcceptDependencies,
  { peer, sid, decision }: { peer: SendingPeer; sid: string; decision: Decision },
): Promise<SubmissionVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: peer.url, sid };
  const decided = await db.withTransaction(async (tx) => {
    const before = await lockVerdict(tx, key);
    // At the limit the verdict is not stored. If the part arrives later, it is held and its leader is asked.
    if (!before && (await isFull(tx, key.peer, 'notReceived'))) return { ...notReceived, changed: false };
    // Waits for a database transaction that stores or decides the same part.
    if (!before && (await insertVerdict(tx, key, notReceived))) return { ...notReceived, changed: true };
    const known = before ?? ((await lockVerdict(tx, key)) as StoredVerdict);
    if (known.verdict !== 'held' || known.transaction === null) return { ...known, changed: false };
    const verdict = await decide(dependencies, tx, { key, transaction: known.transaction, decision });
    return { ...known, verdict, changed: true };
  });
  if (decided.changed) {
    metrics?.countVerdict(decided);
    wake();
  }
  return presentVerdict(decided);
}

async function decide(
  dependencies: AcceptDependencies,
  tx: Queries,
  { key, transaction, decision }: { key: PeerPartKey; transaction: string; decision: Decision },
): Promise<'committed' | 'rolledback'> {
  const isCommit = decision === 'commit';
  const isDone = isCommit
    ? await confirmSubmission(tx, dependencies, transaction)
    : (await rollBack(tx, sql`SELECT ${transaction}::text`, dependencies.instance.baseUrl)) > 0;
  if (!isDone) throw new Error('the transaction of a held part does not wait');
  const verdict = isCommit ? 'committed' : 'rolledback';
  await changeVerdict(tx, key, verdict);
  return verdict;
}
