import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { noSuchTransaction, requireAccess, requireOpen } from '../domain/access.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { cancelLocked, lockTransaction } from '../queries/change-state.ts';
import { readTransaction } from '../queries/transactions.ts';
import { transactionBusy } from './submit-answers.ts';

/**
 * Cancels an open transaction. Privileged callers may always, the subject only if it is `cancellable`.
 * @throws Failure `not-found`, `forbidden` if not cancellable, `wrong-state` in a final state.
 */
export async function cancelTransaction(
  { db, instance, wake }: { db: Database; instance: { baseUrl: string }; wake: () => void },
  { id, principal }: { id: string; principal: Principal },
): Promise<ReadTransaction> {
  const { baseUrl } = instance;
  const read = requireAccess(principal, await readTransaction(db, id));
  if (!isPrivileged(principal) && !read.transaction.context.cancellable)
    throw fail('forbidden', 'The transaction is not cancellable.');
  const isCancelled = await db.withTransaction(async (tx) => {
    // Waits for a submit that is being stored: a single statement would not see its parts.
    await lockTransaction(tx, id);
    return cancelLocked(tx, id, baseUrl);
  });
  const after = await readTransaction(db, id);
  if (!after) throw noSuchTransaction();
  if (!isCancelled) {
    requireOpen(after, baseUrl, 'wrong-state');
    throw transactionBusy();
  }
  wake();
  return after;
}
