import type { AnswerCheck, FormsOperations, ValidCheck } from '#lib/contracts/forms.ts';
import { isStaff, type Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { isNotified } from '../messages/queue.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { noticesIn, noticesOn, withoutWithdrawnNotices } from '../receipts/notices.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { readReceiptBody } from '../receipts/store.ts';
import type { Standing } from '../standing/in-force.ts';
import { readStanding, readTransactionToAnswer } from '../standing/store.ts';
import { requireAccess, requireOpen, transactionBusy } from '../transaction/access.ts';
import { codeDestination } from '../transaction/destination.ts';
import { type ReadTransaction, stateAt, type Transaction } from '../transaction/transaction.ts';
import { type AnswersDigests, invalidComment, splitComment, withComment } from './answers.ts';
import { checkAnswers } from './check.ts';
import type { CommitmentFacts } from './commitment.ts';
import { recordByStaff } from './record-by-staff.ts';
import type { StoreDependencies } from './store-answers.ts';
import { storeAnswers } from './store-answers.ts';

export interface SubmitDependencies extends StoreDependencies {
  db: Database;
  forms: FormsOperations;
  digests: AnswersDigests;
  /** CODE_RESEND_AFTER; seconds. */
  resendAfter: number;
  /** Wakes the outbox relay. */
  wake: () => void;
}

/** A submission as it was sent. */
export interface Submission {
  /** Id of the transaction. */
  id: string;
  principal: Principal;
  /** The answers map (openapi.yaml, `Answers`). */
  body: Record<string, unknown>;
  /** A form post (docs/interface.md, "Answers"). */
  form: boolean;
  /** The language that the person has chosen on the form. */
  language?: string | undefined;
  /** Languages of the reader, best first. */
  languages: string[];
  /** Whether the form was opened, or the answers were sent, with Global Privacy Control. */
  gpc: boolean;
}

export type SubmitResult =
  /** Committed, or waiting for a code or for peers. */
  | { outcome: 'stored'; read: ReadTransaction }
  | {
      outcome: 'rejected';
      read: ReadTransaction;
      check: Exclude<AnswerCheck, ValidCheck>;
      answers: Record<string, string[]>;
    };

const maxAttempts = 3;

/**
 * Submits answers: checks access, then the state, then the answers, and stores them. Idempotent: submitting
 * the stored answers again succeeds. If another request changes the transaction in between, all steps are
 * repeated.
 * @throws Failure of `requireAccess`; `wrong-state`, `expired`, `unavailable`; `withdrawn` if the information
 * or all elements have no ACTIVE version; `invalid-answer` for the comment; `too-many-requests` of
 * `storeAnswers`.
 */
export async function submitAnswers(
  dependencies: SubmitDependencies,
  submission: Submission,
): Promise<SubmitResult> {
  const { db, digests, instance } = dependencies;
  const { id, principal, body, form, language, languages, gpc } = submission;
  const sent = splitComment(body);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await readTransactionToAnswer(db, id);
    const read = requireAccess(principal, found);
    if (sent && (await isRepeated(dependencies, read, withComment(sent)))) return { outcome: 'stored', read };
    requireOpen(read, instance.baseUrl);
    if (!sent) throw invalidComment();
    const { answers, comment } = sent;
    const checked = await checkAnswers(dependencies, read.transaction, read.now, {
      answers,
      form,
      language,
      languages,
    });
    if (checked.outcome !== 'valid') return { outcome: 'rejected', read, check: checked, answers };
    const given = (standing: Standing): CommitmentFacts => {
      const check = withoutWithdrawnNotices(checked, standing);
      const answersDigest = digests.of(withComment(sent), check.parts.length > 0, noticesIn(check));
      return {
        read: { ...read, now: standing.now },
        standing,
        check,
        answersDigest,
        principal,
        comment,
        gpc,
      };
    };
    const { standing } = read;
    const needsLock = attempt > 0 || isStaff(principal) || mayQueueMessage(dependencies, read.transaction);
    const stored = needsLock
      ? await db.withTransaction(async (tx) => {
          const locked = await readLocked(tx, read.transaction, checked);
          // The time in the seal of a part must not be before a withdrawal that was stored since.
          if (checked.parts.length > 0 && locked.position !== standing.position) return undefined;
          const done = await storeAnswers({ ...dependencies, db: tx }, given(locked));
          if (done) await recordByStaff(tx, principal, 'answers.submitted', id);
          return done;
        })
      : await storeAnswers(dependencies, given(standing));
    if (!stored) continue;
    dependencies.wake();
    return { outcome: 'stored', read: { transaction: stored, now: read.now } };
  }
  throw transactionBusy();
}

/** Locks the person, and reads what it has said about the questions. */
async function readLocked(
  tx: Queries,
  { subject, context }: Transaction,
  { answers }: Pick<ValidCheck, 'answers'>,
): Promise<Standing> {
  await lockSubject(tx, subject);
  const keys = answers.map(({ key }) => key);
  return readStanding(tx, { subject, object: context.object ?? '', keys });
}

/**
 * Whether storing the answers may queue a message. The message needs further statements, so all run in one
 * database transaction.
 */
function mayQueueMessage({ messaging }: SubmitDependencies, transaction: Transaction): boolean {
  return codeDestination(transaction.context) !== undefined || isNotified(messaging, transaction);
}

/** Whether these answers are already stored. They may name the notices on the receipt or leave them out. */
async function isRepeated(
  { db, digests }: Pick<SubmitDependencies, 'db' | 'digests'>,
  { transaction, now }: ReadTransaction,
  answers: Record<string, string[]>,
): Promise<boolean> {
  const state = stateAt(transaction, now);
  const digest = transaction.answersDigest;
  if ((state !== 'COMMITTED' && state !== 'SUBMITTED') || digest === null) return false;
  if (digests.matches(digest, answers)) return true;
  const body = await readReceiptBody(db, transaction.id);
  const notices = body === undefined ? [] : noticesOn(JSON.parse(body) as Receipt);
  return notices.length > 0 && digests.matches(digest, answers, notices);
}
