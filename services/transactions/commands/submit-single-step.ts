import type { ActiveVersions, AnswerCheck } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { type ConsentContext, contextDigest, layoutReference } from '../domain/context.ts';
import { sealExpiry } from '../domain/part.ts';
import { type NewTransaction, newTransaction, type ReadTransaction, stateAt } from '../domain/transaction.ts';
import { prefixPointers } from '../handlers/filters.ts';
import {
  insertClaiming,
  insertTransaction,
  lockClaim,
  readClaimed,
  repointClaim,
} from '../queries/create-transaction.ts';
import { readNow } from '../queries/transactions.ts';
import { isReusable } from './create-transaction.ts';
import {
  commitAnswers,
  hiddenKeys,
  noticesIn,
  type SubmitDependencies,
  withComment,
} from './submit-answers.ts';

interface SingleStep {
  context: ConsentContext;
  answers: Record<string, string[]>;
  comment: string | null;
  principal: Principal;
  languages: string[];
}

/**
 * Creates a transaction and submits its answers at once, or does nothing (docs/interface.md). The same call again returns the transaction
 * that it made; an open transaction of an equal context is the one that is answered.
 * @throws Failure of a creation or a submission.
 */
export async function submitSingleStep(
  dependencies: SubmitDependencies & { db: Database },
  { context, answers, comment, principal, languages }: SingleStep,
): Promise<ReadTransaction & { created: boolean }> {
  const { db, digests, forms, instance, wake } = dependencies;
  const { layout, active } = await prefixPointers('/context', () =>
    forms.resolveLayout(layoutReference(context)),
  );
  const openedAt = await readNow(db);
  const hidden = await hiddenKeys(db, forms, { layout, context, parent: null }, openedAt);
  const wanted = context.language ? [context.language, ...languages] : languages;
  const check = await forms.checkAnswers({
    layout,
    openedAt: openedAt.toISOString(),
    languages: wanted,
    answers,
    form: false,
    hidden,
    sealUntil: sealExpiry(context, openedAt).toISOString(),
  });
  const valid = requireValid(check);
  const said = withComment({ answers, comment });
  const notices = noticesIn(valid);
  const digest = digests.of(said, valid.parts.length > 0, notices);
  const fresh = newTransaction(context, layout, principal);
  const claim = contextDigest(context, layout, active);
  const made = await db.withTransaction(async (tx) => {
    const isSame = (given: Buffer) => digests.isOf(given, said) || digests.isOf(given, said, notices);
    const target = await claimTarget(tx, claim, fresh, isSame, active, instance.baseUrl);
    if (target.transaction.state !== 'CREATED') return { ...target, created: false };
    const inTransaction = { ...dependencies, db: tx, wake: () => {} };
    const committed = await commitAnswers(inTransaction, target, valid, { principal, comment }, digest);
    if (!committed)
      throw fail('unavailable', 'The transaction is busy. Please try again.', {
        headers: { 'Retry-After': '1' },
      });
    return { transaction: committed, now: target.now, created: true };
  });
  if (made.created) wake();
  return made;
}

/** The transaction to answer: a new one, the open one of an equal context, or the one that has these very answers already. */
async function claimTarget(
  tx: Queries,
  claim: Buffer,
  fresh: NewTransaction,
  isSame: (digest: Buffer) => boolean,
  active: ActiveVersions,
  source: string,
): Promise<ReadTransaction> {
  const inserted = await insertClaiming(tx, claim, fresh, source);
  if (inserted) return inserted;
  await lockClaim(tx, claim);
  const claimed = await readClaimed(tx, claim);
  if (claimed && stateAt(claimed.transaction, claimed.now) === 'CREATED') return claimed;
  const digest = claimed?.transaction.answersDigest;
  if (claimed && digest && isSame(digest) && (await isReusable(tx, claimed, active))) return claimed;
  const made = await insertTransaction(tx, fresh, source);
  await repointClaim(tx, claim, fresh.id);
  return made;
}

function requireValid(check: AnswerCheck): Extract<AnswerCheck, { outcome: 'valid' }> {
  if (check.outcome === 'valid') return check;
  if (check.outcome === 'stale')
    throw fail('stale-serial', 'The questions have changed.', {
      errors: check.stale.map((identifier) => ({
        pointer: `/values/${identifier.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        code: 'stale-serial',
        detail: 'has a newer version',
      })),
    });
  throw fail('invalid-answer', 'The answers are not valid.', {
    errors: check.faults.map((fault) => ({ ...fault, pointer: `/values${fault.pointer}` })),
  });
}
