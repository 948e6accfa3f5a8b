import type { Decision, OwnerVerdict, PeerSummary } from '#lib/contracts/parts.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { type CommitDependencies, commitSubmitted } from '../answer/commit-submitted.ts';
import { rollBack } from '../answer/end-transactions.ts';
import {
  changeVerdict,
  hasMaxRows,
  insertVerdict,
  lockVerdict,
  type PeerPartKey,
  presentVerdict,
  type StoredVerdict,
} from './store.ts';

export interface DecideDependencies extends CommitDependencies {
  db: Database;
  metrics?: SubmissionMetrics;
  /** Wakes the outbox relay. */
  wake: () => void;
}

/**
 * The verdict that is stored if a decision, a withdrawal or an erasure arrives before its part. The part is
 * refused when it arrives.
 */
const notReceived: StoredVerdict = {
  digest: null,
  verdict: 'rolledback',
  reason: null,
  transaction: null,
};

/**
 * Applies the leader's decision to a held part. The first decision stands (docs/federation.md, "Answers at
 * their owner").
 * @throws Failure `unavailable`: the decision is not applied.
 */
export async function applyDecision(
  dependencies: DecideDependencies,
  { peer, sid, decision }: { peer: PeerSummary; sid: string; decision: Decision },
): Promise<OwnerVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: peer.url, sid };
  const decided = await db.withTransaction(async (tx) => {
    const before = await lockVerdict(tx, key);
    // At the limit the verdict is not stored. If the part arrives later, it is judged as new; if it is held,
    // its leader is asked.
    if (!before && (await hasMaxRows(tx, key.peer, 'notReceived'))) return { ...notReceived, changed: false };
    // Waits for a database transaction that stores or decides the same part.
    if (!before && (await insertVerdict(tx, key, notReceived))) return { ...notReceived, changed: true };
    const known = before ?? ((await lockVerdict(tx, key)) as StoredVerdict);
    if (known.verdict !== 'held' || known.transaction === null) return { ...known, changed: false };
    const verdict = await endHeldPart(dependencies, tx, { key, transaction: known.transaction, decision });
    return { ...known, verdict, changed: true };
  });
  if (decided.changed) {
    metrics?.countVerdict(decided);
    wake();
  }
  return presentVerdict(decided);
}

/** Commits or rolls back the transaction of a held part, and writes the verdict. */
export async function endHeldPart(
  dependencies: DecideDependencies,
  tx: Queries,
  { key, transaction, decision }: { key: PeerPartKey; transaction: string; decision: Decision },
): Promise<'committed' | 'rolledback'> {
  const isCommit = decision === 'commit';
  const isDone = isCommit
    ? await commitSubmitted(tx, dependencies, { id: transaction })
    : (await rollBack(tx, sql`SELECT ${transaction}::text`, dependencies.instance.baseUrl)).length > 0;
  if (!isDone) throw new Error('the transaction of a held part is not SUBMITTED');
  const verdict = isCommit ? 'committed' : 'rolledback';
  await changeVerdict(tx, key, verdict);
  return verdict;
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
