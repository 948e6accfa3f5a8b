import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { lockTransaction, cancelTransaction as writeCancelled } from '../queries/change-state.ts';
import { readTransaction } from '../queries/transactions.ts';
import { requireOpen } from './submit-answers.ts';

/**
 * Cancels an open transaction: its subject may if it is cancellable, operators and keys always.
 * @throws Failure `not-found`, `forbidden` if not cancellable, `wrong-state` in a final state, cancelled ones too (docs/interface.md, "Credentials").
 */
export async function cancelTransaction(
  { db, baseUrl, wake }: { db: Database; baseUrl: string; wake: () => void },
  { id, principal }: { id: string; principal: Principal },
): Promise<ReadTransaction> {
  const read = await readTransaction(db, id);
  if (!read) throw noSuchTransaction();
  requireAccess(principal, read);
  if (!isPrivileged(principal) && !read.transaction.context.cancellable)
    throw fail('forbidden', 'This transaction cannot be cancelled by its subject.');
  const isCancelled = await db.withTransaction(async (tx) => {
    // A submit that is being stored is waited for here: one statement would cancel its transaction and not see its parts for peers.
    await lockTransaction(tx, id);
    return writeCancelled(tx, id, baseUrl);
  });
  const after = await readTransaction(db, id);
  if (!after) throw noSuchTransaction();
  if (!isCancelled) {
    requireOpen(after, baseUrl, 'wrong-state');
    throw fail('unavailable', 'The transaction is busy. Please try again.', {
      headers: { 'Retry-After': '1' },
    });
  }
  wake();
  return after;
}
