import type { Queries } from '#lib/db/database.ts';
import { recordsExpiry } from '../domain/commitment.ts';
import { completeReceipt } from '../domain/receipt.ts';
import { confirmTransaction, readSubmitted } from '../queries/settle-transaction.ts';
import type { SubmitDependencies } from './submit-answers.ts';

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
