import type { AnswerCheck, ValidCheck } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail, prefixPointers } from '#lib/errors/fail.ts';
import {
  invalidComment,
  type SentAnswers,
  splitComment,
  staleSerial,
  withComment,
} from '../answer/answers.ts';
import { checkAnswers } from '../answer/check.ts';
import { recordByStaff } from '../answer/record-by-staff.ts';
import { storeAnswers } from '../answer/store-answers.ts';
import type { SubmitDependencies } from '../answer/submit.ts';
import { claimDocument } from '../documents/store.ts';
import { noticesIn, withoutWithdrawnNotices } from '../receipts/notices.ts';
import { readStanding } from '../standing/store.ts';
import { requireOpen, transactionBusy } from '../transaction/access.ts';
import { layoutReference } from '../transaction/context.ts';
import { insertWithClaim, readNow } from '../transaction/store.ts';
import { newTransaction, type ReadTransaction, stateAt } from '../transaction/transaction.ts';
import { replaceUncounted } from './claims-store.ts';
import { requireNotifiable } from './create.ts';
import { requireUnderDailyLimit } from './daily-limit.ts';
import { contextDigest } from './parse-context.ts';
import { readContext, withLayoutContext } from './read-context.ts';
import { isRepeatable, reuseOrCreate } from './reuse.ts';

interface SingleStep {
  body: { context: Record<string, unknown>; values: Record<string, unknown> };
  principal: Principal;
  /** Languages of the reader, best first. */
  languages: string[];
  /** Whether the request has the signal of Global Privacy Control. */
  gpc: boolean;
}

/**
 * Creates a transaction and submits its answers, or does nothing. Idempotent. If an equal context has a
 * transaction in CREATED, the answers are submitted to it; if it has one in SUBMITTED with other answers, the
 * failure is `wrong-state`.
 * @throws Failure of a creation or a submission, with pointers below `/context` and `/values`.
 */
export async function submitSingleStep(
  dependencies: SubmitDependencies & { db: Database },
  { body, principal, languages, gpc }: SingleStep,
): Promise<ReadTransaction & { created: boolean }> {
  const { db, digests, forms, instance, messaging, wake } = dependencies;
  const asked = await prefixPointers('/context', async () => readContext(body.context, principal, messaging));
  await requireUnderDailyLimit(db, principal, asked.context.subject);
  const sent = await prefixPointers('/values', async () => {
    const split = splitComment(body.values);
    if (!split) throw invalidComment();
    return split;
  });
  const { read, layout, active } = await prefixPointers('/context', async () => {
    const { context: given, ...resolved } = await forms.resolveLayout(layoutReference(asked.context));
    // The person has answered already: no code is sent, and there is no form that could expire.
    const validity = given?.validity && { validity: given.validity };
    const completed = withLayoutContext(asked, validity || undefined, principal, messaging);
    requireNotifiable(messaging, { ...completed, layout: resolved.layout });
    return { ...resolved, read: completed };
  });
  const { context } = read;
  const { position: openedWith } = await readStanding(db, { subject: context.subject, object: '', keys: [] });
  const openedAt = await readNow(db);
  const checked = requireValid(
    await checkAnswers(
      dependencies,
      { ...read, layout, parent: null, createdAt: openedAt, createdBy: null },
      openedAt,
      {
        answers: sent.answers,
        form: false,
        languages,
      },
    ),
    sent,
  );
  const given = withComment(sent);
  const notices = noticesIn(checked);
  const answersDigest = digests.of(given, checked.parts.length > 0, notices);
  const isSame = (digest: Buffer) => [[], notices].some((each) => digests.matches(digest, given, each));
  const digest = contextDigest(read, layout, active);
  const transaction = newTransaction(read, layout, principal);
  const source = instance.baseUrl;
  const submitted = await db.withTransaction(async (tx) => {
    // A CREATED transaction takes the answers; a reusable one that has the same answers is returned.
    const isUsable = async (claimed: ReadTransaction) => {
      const state = stateAt(claimed.transaction, claimed.now);
      if (state === 'CREATED') return true;
      const { answersDigest: earlier } = claimed.transaction;
      const isRepeated = earlier !== null && isSame(earlier);
      // A context has one open transaction. While it waits for a code or peers, other answers are refused.
      if (state === 'SUBMITTED' && !isRepeated) requireOpen(claimed, instance.baseUrl);
      return isRepeated && isRepeatable(tx, claimed, active);
    };
    const inserted = await insertWithClaim(tx, digest, transaction, source);
    const claimed = inserted ?? (await reuseOrCreate(tx, { digest, transaction, source }, isUsable));
    if (claimed.transaction.state !== 'CREATED') return { ...claimed, created: false };
    // The person is locked by what has created or found the transaction.
    const { subject, object = '' } = context;
    const keys = checked.answers.map(({ key }) => key);
    const standing = await readStanding(tx, { subject, object, keys });
    // The time in the seal of a part must not be before a withdrawal that was stored since.
    if (checked.parts.length > 0 && standing.position !== openedWith) throw transactionBusy();
    const check = withoutWithdrawnNotices(checked, standing);
    // An equal context may name another author and address; those of the request with the answers count.
    await claimDocument(tx, claimed.transaction, '/context/collection/document');
    const taken = inserted ?? (await replaceUncounted(tx, claimed, transaction));
    const committed = await storeAnswers(
      { ...dependencies, db: tx },
      {
        read: { ...taken, now: standing.now },
        standing,
        check,
        answersDigest,
        principal,
        comment: sent.comment,
        gpc,
        // Owners order answers by the time in the seal: `openedAt`, which the records get, too.
        ...(check.parts.length > 0 && { givenAt: openedAt }),
      },
    );
    if (!committed) throw transactionBusy();
    await recordByStaff(tx, principal, 'answers.submitted', committed.id);
    return { transaction: committed, now: claimed.now, created: true };
  });
  if (submitted.created) wake();
  return submitted;
}

function requireValid(check: AnswerCheck, { answers }: SentAnswers): ValidCheck {
  if (check.outcome === 'valid') return check;
  if (check.outcome === 'stale') throw staleSerial(check.stale, answers, { prefix: '/values' });
  throw fail('invalid-answer', 'The answers are not valid.', {
    errors: check.faults.map((fault) => ({ ...fault, pointer: `/values${fault.pointer}` })),
  });
}
