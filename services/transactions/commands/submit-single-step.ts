import type { ActiveVersions, AnswerCheck } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import { splitComment, staleSerial, withComment } from '../domain/answers.ts';
import type { ValidCheck } from '../domain/commitment.ts';
import { contextDigest, layoutReference } from '../domain/context.ts';
import { sealExpiry } from '../domain/part.ts';
import { type NewTransaction, newTransaction, type ReadTransaction, stateAt } from '../domain/transaction.ts';
import {
  insertClaiming,
  insertTransaction,
  lockClaim,
  readClaimed,
  repointClaim,
} from '../queries/create-transaction.ts';
import { readNow } from '../queries/transactions.ts';
import { isReusable, readContext } from './create-transaction.ts';
import {
  commitAnswers,
  hiddenKeys,
  noticesIn,
  type SubmitDependencies,
  transactionBusy,
} from './submit-answers.ts';

interface SingleStep {
  body: { context: Record<string, unknown>; values: Record<string, unknown> };
  principal: Principal;
  /** Languages of the reader, best first. */
  languages: string[];
}

/**
 * Creates a transaction and submits its answers, or does nothing. Idempotent; if an equal context has an open transaction, that one is
 * answered.
 * @throws Failure of a creation or a submission, with pointers below `/context` and `/values`.
 */
export async function submitSingleStep(
  dependencies: SubmitDependencies & { db: Database },
  { body, principal, languages }: SingleStep,
): Promise<ReadTransaction & { created: boolean }> {
  const { db, digests, forms, instance, wake } = dependencies;
  const context = await prefixPointers('/context', async () => readContext(body.context, principal));
  const { answers, comment } = await prefixPointers('/values', async () => splitComment(body.values));
  const { layout, active } = await prefixPointers('/context', () =>
    forms.resolveLayout(layoutReference(context)),
  );
  const openedAt = await readNow(db);
  const check = requireValid(
    await forms.checkAnswers({
      layout,
      openedAt: openedAt.toISOString(),
      languages: context.language ? [context.language, ...languages] : languages,
      answers,
      form: false,
      hidden: await hiddenKeys(db, forms, { layout, context, parent: null }, openedAt),
      sealUntil: sealExpiry(context, openedAt).toISOString(),
    }),
  );
  const given = withComment(answers, comment);
  const notices = noticesIn(check);
  const answersDigest = digests.of(given, check.parts.length > 0, notices);
  const isSame = (digest: Buffer) => digests.isOf(digest, given) || digests.isOf(digest, given, notices);
  const claim = { digest: contextDigest(context, layout, active), active, isSame };
  const fresh = newTransaction(context, layout, principal);
  const submitted = await db.withTransaction(async (tx) => {
    const read = await claimTarget(tx, claim, fresh, instance.baseUrl);
    if (read.transaction.state !== 'CREATED') return { ...read, created: false };
    const committed = await commitAnswers(
      { ...dependencies, db: tx, wake() {} },
      { read, check, answersDigest, principal, comment },
    );
    if (!committed) throw transactionBusy();
    return { transaction: committed, now: read.now, created: true };
  });
  if (submitted.created) wake();
  return submitted;
}

interface Claim {
  /** Of the context. */
  digest: Buffer;
  active: ActiveVersions;
  /** Whether a digest of answers is that of this submission. */
  isSame: (digest: Buffer) => boolean;
}

/** The transaction to answer: a new one, the open one of an equal context, or the one that has the same answers. */
async function claimTarget(
  tx: Queries,
  { digest, active, isSame }: Claim,
  fresh: NewTransaction,
  source: string,
): Promise<ReadTransaction> {
  const inserted = await insertClaiming(tx, digest, fresh, source);
  if (inserted) return inserted;
  await lockClaim(tx, digest);
  const claimed = await readClaimed(tx, digest);
  if (claimed && stateAt(claimed.transaction, claimed.now) === 'CREATED') return claimed;
  const answers = claimed?.transaction.answersDigest;
  if (claimed && answers && isSame(answers) && (await isReusable(tx, claimed, active))) return claimed;
  const created = await insertTransaction(tx, fresh, source);
  await repointClaim(tx, digest, fresh.id);
  return created;
}

function requireValid(check: AnswerCheck): ValidCheck {
  if (check.outcome === 'valid') return check;
  if (check.outcome === 'stale') throw staleSerial(check.stale, '/values');
  throw fail('invalid-answer', 'The answers are not valid.', {
    errors: check.faults.map((fault) => ({ ...fault, pointer: `/values${fault.pointer}` })),
  });
}

/** Runs `work` on a member of the body; pointers of its faults start at the root of the body. */
async function prefixPointers<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !error.errors) throw error;
    const { code, message, errors, members, headers, cause } = error;
    const prefixed = errors.map((fault) => ({ ...fault, pointer: `${prefix}${fault.pointer}` }));
    throw new Failure(code, message, { errors: prefixed, members, headers, cause });
  }
}
