import { isPrivileged, type Principal } from '#lib/auth/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Transaction } from './transaction.ts';

/** Unknown and foreign transactions look the same (decisions.md §7). */
export function noSuchTransaction() {
  return fail('not-found', 'There is no such transaction.');
}

/**
 * Lets pass who may see a transaction: the privileged, its subject signed in, and its own token.
 * @throws Failure `not-found` for everyone else, `unauthorized` for a revoked token, `forbidden` for one that opens less.
 */
export function requireAccess(
  principal: Principal,
  transaction: Transaction,
  need: 'task' | 'result' = 'task',
): void {
  const token = principal.transaction;
  if (token) {
    if (token.id !== transaction.id) throw noSuchTransaction();
    if (token.epoch < transaction.tokenEpoch)
      throw fail('unauthorized', 'The transaction token has been revoked.');
    if (token.use === 'receipt' && need === 'task')
      throw fail('forbidden', 'This token opens the result, the receipt and the change of a consent alone.');
    return;
  }
  if (isPrivileged(principal)) return;
  if (principal.subject !== transaction.subject) throw noSuchTransaction();
}

/** Who answers: with a transaction token it is the subject. An author that the context names stands for both. */
export function actorName(principal: Principal, transaction: Transaction): string {
  return transaction.context.author ?? (principal.transaction ? transaction.subject : principal.name);
}
