import { unauthorized } from '#lib/auth/authenticate.ts';
import { isPrivileged, maySayWhoAnswered, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Origin } from './context.ts';
import { isAwaitingCode, isFinal, type ReadTransaction, stateAt, type Transaction } from './transaction.ts';

/** The failure for an unknown transaction and for one of another subject: callers cannot tell them apart. */
export function noSuchTransaction() {
  return fail('not-found', 'Transaction not found.');
}

/**
 * Admits privileged callers, the signed-in subject, and holders of a transaction token. An expired token
 * opens the result while the receipt is valid, so that a link in a mail still leads to withdrawal.
 * @param need `task` to answer, confirm or cancel, and for a scan; `result` for the final page, the
 * withdrawal and the child; `representation` for the transaction's JSON and its receipt, also after its
 * erasure.
 * @throws Failure `not-found` for everyone else, `unauthorized` for a revoked or expired token, `forbidden`
 * for a `receipt` token at a task.
 */
export function requireAccess<Read extends ReadTransaction>(
  principal: Principal,
  read: Read | undefined,
  need: 'task' | 'result' | 'representation' = 'task',
): Read {
  if (!read) throw noSuchTransaction();
  const { transaction, now } = read;

  const token = principal.transaction;
  if (token) {
    if (token.id !== transaction.id) throw noSuchTransaction();
    if (token.epoch < transaction.tokenEpoch) throw unauthorized('The transaction token has been revoked.');
    const until = token.isExpired ? receiptExpiry(transaction) : null;
    if (until === undefined || (until !== null && until <= now))
      throw unauthorized('The transaction token is not valid.');
    if (token.use === 'receipt' && need === 'task')
      throw fail(
        'forbidden',
        'This token opens only the result, the receipt, the withdrawal and the change of a consent.',
      );
    return read;
  }
  if (!isPrivileged(principal) && principal.subject !== transaction.subject) throw noSuchTransaction();
  if (transaction.erasedAt && need !== 'representation')
    throw fail('not-found', 'The transaction was erased.');
  return read;
}

/**
 * A condition for statements: the transactions in which a caller may act. For a privileged caller, who may
 * act in all, no member is present.
 */
export interface TaskScope {
  /** Only transactions of this subject. */
  subject?: string;
  /** Epoch of the caller's token: only transactions that have not revoked tokens of this epoch. */
  epoch?: number;
}

/**
 * The condition of {@link requireAccess} for a task, for statements that act before the transaction is read.
 * @returns undefined if the caller cannot have access to this transaction.
 */
export function taskScope(principal: Principal, id: string): TaskScope | undefined {
  const { transaction: token, subject } = principal;
  if (token) return token.id === id && token.use === 'tx' ? { epoch: token.epoch } : undefined;
  if (isPrivileged(principal)) return {};
  return subject === undefined ? undefined : { subject };
}

/**
 * The time until which links open the receipt of a transaction: as long as its answers are valid. Null: for
 * ever, as for conditions and for a withdrawal. Undefined unless it is committed.
 */
export function receiptExpiry({ state, validUntil }: Transaction): Date | null | undefined {
  return state === 'COMMITTED' ? validUntil : undefined;
}

/**
 * The author of answers: the author that the context names; else the subject, if the caller has a transaction
 * token; else the caller. A clerk is the author of what it sends, whatever the context says.
 */
export function authorOf(principal: Principal, transaction: Transaction): string {
  if (actsInOwnName(principal)) return principal.name;
  return transaction.context.author ?? (principal.transaction ? transaction.subject : principal.name);
}

/** How answers came: as the context says, but those that a clerk sends did not come from the subject. */
export function originOf(principal: Principal, { context }: Pick<Transaction, 'context'>): Origin {
  return actsInOwnName(principal) ? 'OPERATOR' : context.origin;
}

function actsInOwnName(principal: Principal): boolean {
  return isPrivileged(principal) && !maySayWhoAnswered(principal);
}

/**
 * Requires the state CREATED (docs/interface.md, "States").
 * @throws Failure `pastDeadline` in the state TIMEOUT, `wrong-state` in the others.
 */
export function requireOpen(
  { transaction, now }: ReadTransaction,
  baseUrl: string,
  pastDeadline: 'expired' | 'wrong-state' = 'expired',
): void {
  const state = stateAt(transaction, now);
  if (state === 'CREATED') return;
  const breed = `${baseUrl}/consents/${transaction.id}/child`;
  if (state === 'TIMEOUT')
    throw fail(pastDeadline, 'The deadline of the transaction has passed.', { members: { state, breed } });
  const task = isAwaitingCode({ transaction, now })
    ? `${baseUrl}/consents/${transaction.id}/confirm`
    : undefined;
  throw fail('wrong-state', `The transaction is already ${state}.`, { members: { state, task, breed } });
}

/**
 * Requires that a code is awaited (docs/interface.md, "Confirmation codes").
 * @throws Failure `pastDeadline` in the state TIMEOUT, `wrong-state` in the others.
 */
export function requireAwaitingCode(
  read: ReadTransaction,
  baseUrl: string,
  pastDeadline: 'expired' | 'wrong-state' = 'wrong-state',
): void {
  const { transaction, now } = read;
  if (isAwaitingCode(read)) return;
  const state = stateAt(transaction, now);
  const url = `${baseUrl}/consents/${transaction.id}`;
  const [task, breed] = [`${url}/submit`, `${url}/child`];
  if (state === 'CREATED')
    throw fail('wrong-state', 'The transaction has no answers to confirm yet.', {
      members: { state, task, breed },
    });
  if (state === 'SUBMITTED')
    throw fail('wrong-state', 'The transaction does not await a code.', { members: { state, breed } });
  requireOpen(read, baseUrl, pastDeadline);
}

/**
 * @throws Failure `wrong-state` unless a transaction may have a child: final and updatable
 * (docs/interface.md, "Children").
 */
export function requireUpdatable({ transaction, now }: ReadTransaction): void {
  const state = stateAt(transaction, now);
  if (!isFinal(state)) throw fail('wrong-state', 'The transaction is not final yet.', { members: { state } });
  if (!transaction.context.updatable)
    throw fail('wrong-state', 'The transaction is not updatable.', { members: { state } });
}

/** The failure of a request while other requests keep changing the transaction. */
export function transactionBusy() {
  return fail('unavailable', 'The transaction is busy. Try again.', { headers: { 'Retry-After': '1' } });
}
