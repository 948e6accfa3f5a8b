import type { Decision, SendingPeer, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { rollBack } from '../queries/change-state.ts';
import {
  changeVerdict,
  insertSubmission,
  isFull,
  lockSubmission,
  type StoredSubmission,
  type SubmissionKey,
} from '../queries/peer-parts.ts';
import { type AcceptDependencies, presentVerdict } from './accept-part.ts';
import { confirmSubmission } from './submit-answers.ts';

/** A decision over a part, as its leader told it. */
interface Decided {
  peer: SendingPeer;
  sid: string;
  decision: Decision;
}

/** A part that was decided before it came is not taken any more. */
const neverCame: StoredSubmission = { digest: null, verdict: 'rolledback', reason: null, transaction: null };

/**
 * Puts a part that is held in force, or rolls it back (federation.md, "Answers" 6). The first decision stands, however often and in
 * whatever order decisions come.
 * @throws Failure `unavailable`: nothing is decided.
 */
export async function decideSubmission(
  dependencies: AcceptDependencies,
  { peer, sid, decision }: Decided,
): Promise<SubmissionVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: peer.url, sid };
  const said = await db.withTransaction(async (tx) => {
    const before = await lockSubmission(tx, key);
    // A part that comes after all is held, and its leader is asked: the verdict need not be stored to be kept.
    if (!before && (await isFull(tx, key.peer, 'neverCame'))) return { ...neverCame, changed: false };
    // Waits for a transaction that stores or decides the same part at the same time.
    if (!before && (await insertSubmission(tx, key, neverCame))) return { ...neverCame, changed: true };
    const known = before ?? ((await lockSubmission(tx, key)) as StoredSubmission);
    if (known.verdict !== 'held' || known.transaction === null) return { ...known, changed: false };
    const verdict = await decide(dependencies, tx, { key, transaction: known.transaction, decision });
    return { ...known, verdict, changed: true };
  });
  if (said.changed) {
    metrics?.judged(said);
    wake();
  }
  return presentVerdict(said);
}

async function decide(
  dependencies: AcceptDependencies,
  tx: Queries,
  { key, transaction, decision }: { key: SubmissionKey; transaction: string; decision: Decision },
): Promise<'committed' | 'rolledback'> {
  const verdict = decision === 'commit' ? 'committed' : 'rolledback';
  const done =
    decision === 'commit'
      ? await confirmSubmission(tx, dependencies, transaction)
      : (await rollBack(tx, sql`SELECT ${transaction}::text`, dependencies.instance.baseUrl)) > 0;
  if (!done) throw new Error('A part that is held has a transaction that does not wait.');
  await changeVerdict(tx, key, verdict);
  return verdict;
}
