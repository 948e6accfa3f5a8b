import { isNotice } from '#lib/contracts/element-rules.ts';
import type { AnswerCheck, FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { actorName, noSuchTransaction, requireAccess } from '../domain/access.ts';
import type { AnswersDigests } from '../domain/answers.ts';
import { type Commitment, composeCommitment, recordsExpiry, waitsForPeers } from '../domain/commitment.ts';
import { deliveryDeadline, sealExpiry } from '../domain/part.ts';
import { completeReceipt, noticesOn, type Receipt, type ReceiptSigner } from '../domain/receipt.ts';
import { validRecords } from '../domain/records.ts';
import { hidesAnswered, type ReadTransaction, stateAt, type Transaction } from '../domain/transaction.ts';
import {
  commitTransaction,
  confirmTransaction,
  readSubmitted,
  submitTransaction,
} from '../queries/commit-transaction.ts';
import { readEarlier, readReceiptBody } from '../queries/records.ts';
import { readTransaction } from '../queries/transactions.ts';

export interface SubmitDependencies {
  db: Queries;
  forms: FormsOperations;
  instance: { name: string; baseUrl: string };
  signReceipt: ReceiptSigner;
  digests: AnswersDigests;
  /** The link on the receipt by which the subject changes their mind, good until `until`. */
  updateUrl: (transaction: Transaction, until: Date) => string;
  /** EXPIRY_NOTICE */
  expiryNoticeMs: number;
  wake: () => void;
}

/** A submission as it came in. */
export interface Submission {
  id: string;
  principal: Principal;
  answers: Record<string, string[]>;
  comment: string | null;
  /** A form post (docs/interface.md, "Answers"). */
  form: boolean;
  /** What the subject reads, best first. */
  languages: string[];
}

export type SubmitOutcome =
  /** Stored: in force, or as soon as all peers hold their parts. */
  | { outcome: 'stored'; read: ReadTransaction }
  | { outcome: 'rejected'; read: ReadTransaction; check: Exclude<AnswerCheck, { outcome: 'valid' }> };

const attempts = 3;

/**
 * Submits answers: token → state → form → answers → commit. The same answers again are the same success; a transaction that somebody else
 * finished in between is read again and judged as it stands.
 * @throws Failure `not-found`, `wrong-state`, `expired`, `withdrawn`.
 */
export async function submitAnswers(
  dependencies: SubmitDependencies,
  submission: Submission,
): Promise<SubmitOutcome> {
  const { digests } = dependencies;
  const answers = withComment(submission);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const read = await readTransaction(dependencies.db, submission.id);
    if (!read) throw noSuchTransaction();
    requireAccess(submission.principal, read);
    if (await isAnsweredAlike(dependencies, read, answers)) return { outcome: 'stored', read };
    requireOpen(read, dependencies.instance.baseUrl);
    const check = await checkSubmission(dependencies, read, submission);
    if (check.outcome !== 'valid') return { outcome: 'rejected', read, check };
    const digest = digests.of(answers, check.parts.length > 0, noticesIn(check));
    const stored = await commitAnswers(dependencies, read, check, submission, digest);
    if (stored) return { outcome: 'stored', read: { transaction: stored, now: read.now } };
  }
  throw fail('unavailable', 'The transaction is busy. Please try again.', {
    headers: { 'Retry-After': '1' },
  });
}

/** All that the subject said. */
export function withComment({
  answers,
  comment,
}: Pick<Submission, 'answers' | 'comment'>): Record<string, string[]> {
  return comment === null ? answers : { ...answers, comment: [comment] };
}

/** Whether a transaction has these answers already. Notices may be named or left out: what was recorded tells which they are. */
async function isAnsweredAlike(
  { db, digests }: Pick<SubmitDependencies, 'db' | 'digests'>,
  { transaction, now }: ReadTransaction,
  answers: Record<string, string[]>,
): Promise<boolean> {
  const state = stateAt(transaction, now);
  const digest = transaction.answersDigest;
  if ((state !== 'COMMITTED' && state !== 'SUBMITTED') || digest === null) return false;
  if (digests.isOf(digest, answers)) return true;
  const body = await readReceiptBody(db, transaction.id);
  const notices = body === undefined ? [] : noticesOn(JSON.parse(body) as Receipt);
  return notices.length > 0 && digests.isOf(digest, answers, notices);
}

/** Identifiers of the notices among checked answers. */
export function noticesIn({ answers, parts }: Extract<AnswerCheck, { outcome: 'valid' }>): string[] {
  return [...answers, ...parts.flatMap(({ elements }) => elements)].flatMap(({ identifier, content }) =>
    isNotice(identifier, content) ? identifier : [],
  );
}

/** @throws Failure `expired` past the deadline (docs/interface.md, "Errors"), `wrong-state` past CREATED. */
export function requireOpen(
  { transaction, now }: ReadTransaction,
  baseUrl: string,
  pastDeadline: 'expired' | 'wrong-state' = 'expired',
): void {
  const state = stateAt(transaction, now);
  if (state === 'CREATED') return;
  const breed = `${baseUrl}/consents/${transaction.id}/child`;
  if (state === 'TIMEOUT')
    throw fail(pastDeadline, 'The time to answer is over.', { members: { state, breed } });
  throw fail('wrong-state', `The transaction is ${state} already.`, { members: { state, breed } });
}

async function checkSubmission(
  { db, forms }: SubmitDependencies,
  { transaction, now }: ReadTransaction,
  { answers, form, languages }: Submission,
): Promise<AnswerCheck> {
  return forms.checkAnswers({
    layout: transaction.layout,
    openedAt: transaction.createdAt.toISOString(),
    languages: transaction.context.language ? [transaction.context.language, ...languages] : languages,
    answers,
    form,
    hidden: await hiddenKeys(db, forms, transaction, now),
    sealUntil: sealExpiry(transaction.context, now).toISOString(),
    child: transaction.parent !== null,
  });
}

/** Keys that are not asked because they have a valid answer (openapi.yaml, `existingElementsVisible`). */
export async function hiddenKeys(
  db: Queries,
  forms: FormsOperations,
  { layout, context, parent }: Pick<Transaction, 'layout' | 'context' | 'parent'>,
  now: Date,
): Promise<string[]> {
  if (!hidesAnswered({ layout, parent }) || context.silent) return [];
  const earlier = await readEarlier(db, context.subject, context.object ?? '', layout.elements);
  if (earlier.length === 0) return [];
  const keys = earlier.flatMap((record) => [record.key, record.infoKey]);
  const active = await forms.activeVersions({ keys: [...new Set(keys)] });
  return validRecords(earlier, active, now).map(({ key }) => key);
}

/**
 * Stores checked answers in one statement: records, signed receipt, peers' parts, state, history and events. With `holdUntil`, or if all
 * peers are to hold their parts first, they wait: PENDING records, and no receipt yet.
 * @returns undefined if the transaction is not as it was read any more.
 */
export async function commitAnswers(
  dependencies: SubmitDependencies,
  { transaction, now }: ReadTransaction,
  check: Extract<AnswerCheck, { outcome: 'valid' }>,
  by: Pick<Submission, 'principal' | 'comment'>,
  digest: Buffer,
  holdUntil?: Date,
): Promise<Transaction | undefined> {
  const { db, instance, signReceipt, wake } = dependencies;
  const { commitment, body } = composeAnswers(dependencies, { transaction, now }, check, by, digest);
  const deadline =
    holdUntil ?? (waitsForPeers(transaction, check) ? deliveryDeadline(transaction.context, now) : undefined);
  const after = { ...transaction, version: transaction.version + 1, answersDigest: digest, changedAt: now };
  if (deadline) {
    const pending = { ...commitment, deadline, draft: body };
    if (!(await submitTransaction(db, pending, instance.baseUrl))) return undefined;
    wake();
    return { ...after, state: 'SUBMITTED', expiresAt: deadline };
  }
  const signed = { ...commitment, receipt: { body, jws: signReceipt(body) } };
  if (!(await commitTransaction(db, signed, instance.baseUrl))) return undefined;
  wake();
  return { ...after, state: 'COMMITTED' };
}

/** What is stored of checked answers, and the body of their receipt. */
export function composeAnswers(
  {
    instance,
    updateUrl,
    expiryNoticeMs,
  }: Pick<SubmitDependencies, 'instance' | 'updateUrl' | 'expiryNoticeMs'>,
  { transaction, now }: ReadTransaction,
  check: Extract<AnswerCheck, { outcome: 'valid' }>,
  { principal, comment }: Pick<Submission, 'principal' | 'comment'>,
  digest: Buffer,
): { commitment: Omit<Commitment, 'receipt'>; body: string } {
  const expiresAt = recordsExpiry(transaction, now);
  const { commitment, receipt } = composeCommitment({
    transaction,
    check,
    answersDigest: digest,
    author: actorName(principal, transaction),
    comment,
    committedAt: now,
    expiresAt,
    expiryNoticeMs,
    instance,
    receiptId: randomId(),
    updateUrl: transaction.context.updatable ? updateUrl(transaction, expiresAt) : undefined,
  });
  return { commitment, body: JSON.stringify(receipt) };
}

/**
 * Puts a transaction's submitted answers in force, and signs its receipt.
 * @returns false if it does not wait any more, or its deadline has passed.
 */
export async function confirmSubmission(
  db: Queries,
  { instance, signReceipt, updateUrl }: Pick<SubmitDependencies, 'instance' | 'signReceipt' | 'updateUrl'>,
  id: string,
): Promise<boolean> {
  const submitted = await readSubmitted(db, id);
  if (!submitted) return false;
  const { transaction, now, draft } = submitted;
  const expiresAt = recordsExpiry(transaction, now);
  const body = JSON.stringify(
    completeReceipt(draft, {
      committedAt: now,
      expiresAt,
      updateUrl: transaction.context.updatable ? updateUrl(transaction, expiresAt) : undefined,
    }),
  );
  const receipt = { body, jws: signReceipt(body) };
  return confirmTransaction(db, { id, committedAt: now, expiresAt, receipt }, instance.baseUrl);
}
