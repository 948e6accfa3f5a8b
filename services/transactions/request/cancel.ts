import { recordAction } from '#lib/audit/record-action.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { cancelLocked } from '../answer/end-transactions.ts';
import { noSuchTransaction, requireAccess, requireOpen, transactionBusy } from '../transaction/access.ts';
import { lockTransaction, readTransaction } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';
import type { CreateDependencies } from './create.ts';

/**
 * Cancels an open transaction. Callers without privileges may only cancel one that is `cancellable`.
 * @throws Failure `not-found`, `forbidden` if not cancellable, `wrong-state` in a final state.
 */
export async function cancelTransaction(
  { db, instance, wake }: Omit<CreateDependencies, 'forms'>,
  { id, principal }: { id: string; principal: Principal },
): Promise<ReadTransaction> {
  const { baseUrl } = instance;
  const read = requireAccess(principal, await readTransaction(db, id));
  if (!isPrivileged(principal) && !read.transaction.context.cancellable)
    throw fail('forbidden', 'The transaction is not cancellable.');
  const isCancelled = await db.withTransaction(async (tx) => {
    // The lock waits for a submission that is being stored: a single statement would not see its parts.
    await lockTransaction(tx, id);
    const isDone = await cancelLocked(tx, id, baseUrl);
    if (isDone && isPrivileged(principal))
      await recordAction(tx, { action: 'transaction.cancelled', target: `transaction/${id}` });
    return isDone;
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
