import { unauthorized } from '#lib/auth/authenticate.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { recordsExpiry } from './commitment.ts';
import type { ReadTransaction, Transaction } from './transaction.ts';

/** Unknown and foreign transactions look the same. */
export function noSuchTransaction() {
  return fail('not-found', 'There is no such transaction.');
}

/**
 * Lets pass who may see a transaction: the privileged, its subject signed in, and its own token. A token past its life opens the result while
 * the receipt is valid, so that a link in a mail still leads to withdrawal.
 * @throws Failure `not-found` for everyone else, `unauthorized` for a revoked or expired token, `forbidden` for one that opens less.
 */
export function requireAccess(
  principal: Principal,
  { transaction, now }: ReadTransaction,
  need: 'task' | 'result' = 'task',
): void {
  const token = principal.transaction;
  if (token) {
    if (token.id !== transaction.id) throw noSuchTransaction();
    if (token.epoch < transaction.tokenEpoch) throw unauthorized('The transaction token has been revoked.');
    const until = token.isExpired ? receiptExpiry(transaction) : undefined;
    if (token.isExpired && (until === undefined || until <= now))
      throw unauthorized('The transaction token is not valid.');
    if (token.use === 'receipt' && need === 'task')
      throw fail('forbidden', 'This token opens the result, the receipt and the change of a consent alone.');
    return;
  }
  if (isPrivileged(principal)) return;
  if (principal.subject !== transaction.subject) throw noSuchTransaction();
}

/** Until when links open the receipt of a transaction; undefined before it is committed. */
export function receiptExpiry(transaction: Transaction): Date | undefined {
  return transaction.state === 'COMMITTED' ? recordsExpiry(transaction, transaction.changedAt) : undefined;
}

/** Who answers: with a transaction token it is the subject. An author that the context names stands for both. */
export function actorName(principal: Principal, transaction: Transaction): string {
  return transaction.context.author ?? (principal.transaction ? transaction.subject : principal.name);
}
