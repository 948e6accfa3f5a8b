import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { queueCode } from '../messages/queue.ts';
import { proveContact } from '../person/contacts-sql.ts';
import { lockSubjectOf } from '../person/positions-sql.ts';
import { deliveryDeadline } from '../sent-parts/part.ts';
import { summarizeWaiting } from '../sent-parts/store.ts';
import { requireAccess, requireAwaitingCode, taskScope, transactionBusy } from '../transaction/access.ts';
import { readTransaction } from '../transaction/store.ts';
import {
  isAwaitingCode,
  type ReadTransaction,
  stateAt,
  type Transaction,
} from '../transaction/transaction.ts';
import {
  type Code,
  type CodeBinding,
  type Codes,
  codeStatus,
  commitSeconds,
  drawCode,
  maxCodes,
  maxTries,
} from './code.ts';
import {
  countAttempt,
  readTransactionWithCode,
  replaceCode,
  type TransactionWithCode,
} from './codes-store.ts';
import { commitSubmitted } from './commit-submitted.ts';
import { rollBackUnconfirmed } from './end-transactions.ts';
import { recordByStaff } from './record-by-staff.ts';
import type { StoreDependencies } from './store-answers.ts';
import { awaitPeers, rollBackWithdrawn } from './waiting-parts-store.ts';

interface ConfirmDependencies extends StoreDependencies {
  db: Database;
  /** CODE_RESEND_AFTER; seconds. */
  resendAfter: number;
  /** Wakes the outbox relay. */
  wake: () => void;
}

/** A transaction that awaits a code, with that code. */
export interface AwaitedCode {
  read: TransactionWithCode & { draft: string };
  code: Code;
}

/**
 * Reads a transaction that awaits a code.
 * @throws Failure of `requireAccess`; `pastDeadline` in the state TIMEOUT, `wrong-state` if no code is
 * awaited.
 */
export async function readAwaitedCode(
  { db, instance }: Pick<ConfirmDependencies, 'db' | 'instance'>,
  { id, principal }: { id: string; principal: Principal },
  pastDeadline: 'expired' | 'wrong-state',
): Promise<AwaitedCode> {
  const read = requireAccess(principal, await readTransactionWithCode(db, id));
  requireAwaitingCode(read, instance.baseUrl, pastDeadline);
  return withCode(read);
}

/** Narrows the type: a transaction that awaits a code has a code and a draft of its receipt. */
export function withCode(read: TransactionWithCode): AwaitedCode {
  const { code, draft } = read;
  if (code === null || draft === null)
    throw new Error('a transaction that awaits a code has no code or no draft of its receipt');
  return { read: { ...read, draft }, code };
}

/**
 * Confirms submitted answers with a code (docs/interface.md, "Confirmation codes"). Repeating the code that
 * confirmed the answers succeeds and changes nothing. With the last code, a wrong last attempt rolls the
 * answers back. Ten seconds after the last code has expired, any attempt rolls them back, if the sweeper has
 * not done so before.
 * @param input.code six digits.
 * @throws Failure of `requireAccess`; `confirmation-failed`, `expired`, `wrong-state`, `unavailable`.
 */
export async function confirmCode(
  dependencies: ConfirmDependencies,
  { id, principal, code: entered }: { id: string; principal: Principal; code: string },
): Promise<ReadTransaction> {
  const { db, codes, instance, wake } = dependencies;
  const scope = taskScope(principal, id);
  const attempt = scope && (await countAttempt(db, id, scope));
  const read = requireAccess(principal, attempt?.read ?? (await readTransactionWithCode(db, id)));
  if (hasConfirmed(codes, read, entered)) return read;
  requireAwaitingCode(read, instance.baseUrl, 'expired');
  const { code } = withCode(read);
  const tries = attempt?.tries;
  const isRight = tries !== undefined && codes.matches(code.mac, bindingOf(read.transaction, code), entered);
  const confirmed = isRight && (await confirmWith(dependencies, withCode(read), principal));
  if (confirmed) {
    wake();
    return { transaction: confirmed, now: read.now };
  }
  // A parallel request may have confirmed the answers with the same code.
  const after = await readTransactionWithCode(db, id);
  if (after && hasConfirmed(codes, after, entered)) return after;
  // If a parallel request has replaced the code, the entered one is wrong.
  const current = isRight && after?.code?.number !== code.number ? after?.code : undefined;
  if (isRight && !current) throw transactionBusy();
  const rejected = current ?? { ...code, tries: tries ?? code.tries };
  throw await rejectCode(dependencies, read, rejected, current ? undefined : tries);
}

function bindingOf({ id, answersDigest }: Transaction, { number }: Pick<Code, 'number'>): CodeBinding {
  return { transaction: id, answersDigest: answersDigest as Buffer, number };
}

/** Whether the entered code has already confirmed the answers. */
function hasConfirmed(
  codes: Codes,
  { transaction, now, code }: TransactionWithCode,
  entered: string,
): boolean {
  const state = stateAt(transaction, now);
  // The answers may have been rolled back since: a part was withdrawn, or an owner did not hold its part.
  const isOver = state === 'COMMITTED' || state === 'ROLLBACK';
  const isConfirmed = isOver || (state === 'SUBMITTED' && !transaction.awaitsCode);
  if (!isConfirmed || code === null || code.usedAt === null) return false;
  return codes.matches(code.mac, bindingOf(transaction, code), entered);
}

/**
 * Marks the code as used and commits the answers. With `peerCommit: together` and parts for owners, it
 * releases the parts instead; the commit follows when all owners hold theirs. If a part was withdrawn, not
 * all owners can hold theirs, so the answers are rolled back.
 * @returns the transaction afterwards; undefined if another request has changed it, or replaced the code.
 */
async function confirmWith(
  dependencies: ConfirmDependencies,
  { read, code: { number } }: AwaitedCode,
  principal: Principal,
): Promise<Transaction | undefined> {
  const { db } = dependencies;
  const { id } = read.transaction;
  return db.withTransaction(async (tx) => {
    const done = await useCode(tx, dependencies, read, number);
    if (done) await recordByStaff(tx, principal, 'answers.confirmed', id);
    const { subject, context } = read.transaction;
    const { emailAddress } = context.subjectInfos ?? {};
    if (done && emailAddress && context.confirmation === 'EMAIL_CODE')
      await proveContact(tx, subject, emailAddress);
    return done;
  });
}

/** The statements of {@link confirmWith}. */
async function useCode(
  tx: Queries,
  dependencies: ConfirmDependencies,
  { transaction, now }: ReadTransaction,
  code: number,
): Promise<Transaction | undefined> {
  const { id, context } = transaction;
  const source = dependencies.instance.baseUrl;
  // A withdrawal of a part locks the person, too.
  await lockSubjectOf(tx, id);
  // Answers may have no parts although the layout has elements of peers: in a child, and with
  // `ask: CHANGED`.
  const waiting = context.peerCommit === 'together' ? await summarizeWaiting(tx, id) : undefined;
  if (!waiting?.any) return commitSubmitted(tx, dependencies, { id, code });
  if (waiting.anyWithdrawn) {
    const isOver = await rollBackWithdrawn(tx, { id, code }, source);
    return isOver ? (await readTransaction(tx, id))?.transaction : undefined;
  }
  const deadline = deliveryDeadline(context, now);
  const isReleased = await awaitPeers(tx, { id, deadline, code }, source);
  return isReleased ? { ...transaction, awaitsCode: false, expiresAt: deadline } : undefined;
}

/**
 * Rolls the answers back if no code is left that could confirm them. An attempt that was not counted
 * (`countAttempt`) rolls nothing back while a counted one may still be committing. So only the last counted
 * attempt with the last code rolls back, or any attempt from ten seconds after the expiry of that code on.
 * @param counted number of this attempt; undefined if it was not counted.
 * @returns the failure that says why the code was rejected.
 * @throws Failure `wrong-state` or `expired` if the transaction no longer awaits a code.
 */
async function rejectCode(
  { db, instance, wake }: ConfirmDependencies,
  read: ReadTransaction,
  code: Code,
  counted: number | undefined,
) {
  const { id } = read.transaction;
  const isExpired = code.expiresAt <= read.now;
  const isOver = code.expiresAt.getTime() + commitSeconds * 1000 <= read.now.getTime();
  const endsCode = counted === undefined ? isOver : counted >= maxTries;
  if (code.number === maxCodes && endsCode && (await rollBackUnconfirmed(db, id, instance.baseUrl))) wake();
  const after = await readTransaction(db, id);
  // The transaction may have ended: by the roll-back above, or by another request.
  if (after && !isAwaitingCode(after)) requireAwaitingCode(after, instance.baseUrl, 'expired');
  const { triesLeft, codesLeft } = codeStatus(code, 0);
  const isExhausted = triesLeft === 0;
  const reason = isExpired ? 'expired' : isExhausted ? 'exhausted' : 'wrong';
  const detail =
    codesLeft > 0 && reason !== 'wrong' ? `${details[reason]} Request another one.` : details[reason];
  return fail('confirmation-failed', detail, {
    errors: [{ pointer: '/code', code: reason, detail: faults[reason] }],
    members: { triesLeft, codesLeft },
  });
}

const details = {
  wrong: 'The code is wrong.',
  expired: 'The code has expired.',
  exhausted: 'The code was entered wrongly too often.',
};
const faults = {
  wrong: 'is not the newest code',
  expired: 'has expired',
  exhausted: 'is not accepted any more',
};

/**
 * Replaces the code, and queues the message with the new one (a FORM_CODE is shown instead).
 * @throws Failure of `readAwaitedCode`; `wrong-state` if no code is left; `too-many-requests` with
 * Retry-After.
 */
export async function resendCode(
  dependencies: ConfirmDependencies,
  input: { id: string; principal: Principal },
): Promise<AwaitedCode> {
  const { db, messaging, resendAfter } = dependencies;
  const { read, code: former } = await readAwaitedCode(dependencies, input, 'expired');
  const { transaction, now } = read;
  if (former.number >= maxCodes)
    throw fail('wrong-state', 'No further code is available for this transaction.', {
      members: { state: transaction.state },
    });
  const waitMs = codeStatus(former, resendAfter).resendAfter.getTime() - now.getTime();
  if (waitMs > 0) throw tooEarly(waitMs);
  const answersDigest = transaction.answersDigest as Buffer;
  const drawn = drawCode(dependencies, transaction, { number: former.number + 1, answersDigest });
  const code = await db.withTransaction(async (tx) => {
    const replaced = await replaceCode(tx, {
      transaction: transaction.id,
      after: resendAfter,
      code: drawn.code,
    });
    if (!replaced) return undefined;
    await queueCode(tx, messaging, transaction, { number: replaced.number, text: drawn.text });
    return replaced;
  });
  if (code) return { read, code };
  // Another request has replaced or used the code, or has ended the transaction.
  await readAwaitedCode(dependencies, input, 'expired');
  throw tooEarly(resendAfter * 1000);
}

function tooEarly(waitMs: number) {
  const seconds = String(Math.ceil(waitMs / 1000));
  const detail = `Another code can be requested in ${seconds} s.`;
  return fail('too-many-requests', detail, {
    headers: { 'Retry-After': seconds },
    errors: [{ pointer: '', code: 'early', detail }],
  });
}
