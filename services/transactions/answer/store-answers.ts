import type { Queries } from '#lib/db/database.ts';
import type { Messaging } from '../messages/queue.ts';
import { queueCode, queueNotification } from '../messages/queue.ts';
import type { ReceiptSigner } from '../receipts/receipt.ts';
import { deliveryDeadline } from '../sent-parts/part.ts';
import { confirmationDeadline, type Transaction } from '../transaction/transaction.ts';
import type { Codes } from './code.ts';
import { drawCode } from './code.ts';
import type { CommitmentFacts, CommitmentSettings } from './commitment.ts';
import { composeCommitment, waitsForPeers } from './commitment.ts';
import { commitTransaction, submitTransaction } from './store.ts';

export interface StoreDependencies extends CommitmentSettings {
  db: Queries;
  signReceipt: ReceiptSigner;
  codes: Codes;
  /** CODE_TTL; seconds. */
  codeTtl: number;
  messaging: Messaging;
}

/**
 * Stores checked answers: records, receipt, parts, state, history and events in one statement; further
 * statements queue the code or the notification, if there is one. If a code is needed, if all owners must
 * hold their parts first, or with `holdUntil`, the records are PENDING and a draft replaces the receipt.
 * @param dependencies.db a database transaction if a message may be queued.
 * @param holdUntil only for a part that this instance holds. It is only shown as `expires`; services/peers
 * rolls the part back after 25 hours.
 * @returns undefined if nothing was stored, because `commitTransaction` or `submitTransaction` returned
 * false.
 * @throws Failure `too-many-requests` if a limit of messages is reached, so that no code can be sent.
 */
export async function storeAnswers(
  dependencies: StoreDependencies,
  facts: CommitmentFacts,
  holdUntil?: Date,
): Promise<Transaction | undefined> {
  const { db, instance, signReceipt, messaging } = dependencies;
  const { check, answersDigest } = facts;
  const { transaction, now } = facts.read;
  const { context } = transaction;
  const { commitment, body } = composeCommitment(facts, dependencies);
  const source = instance.baseUrl;
  const after = { ...transaction, version: transaction.version + 1, answersDigest, changedAt: now };
  if (context.confirmation !== 'NONE') {
    const drawn = drawCode(dependencies, transaction, { number: 1, answersDigest });
    const expiresAt = confirmationDeadline(transaction, now);
    const submitted = { ...commitment, deadline: expiresAt, draft: body, code: drawn.code };
    if (!(await submitTransaction(db, submitted, source))) return undefined;
    await queueCode(db, messaging, transaction, { number: 1, text: drawn.text });
    return { ...after, state: 'SUBMITTED', awaitsCode: true, expiresAt };
  }
  const deadline =
    holdUntil ?? (waitsForPeers(transaction, check) ? deliveryDeadline(context, now) : undefined);
  if (deadline) {
    const submitted = { ...commitment, deadline, draft: body, code: undefined };
    if (!(await submitTransaction(db, submitted, source))) return undefined;
    return { ...after, state: 'SUBMITTED', expiresAt: deadline };
  }
  const receipt = { body, jws: signReceipt(body) };
  if (!(await commitTransaction(db, { ...commitment, receipt }, source))) return undefined;
  await queueNotification(db, messaging, transaction);
  return { ...after, state: 'COMMITTED', validUntil: commitment.validUntil };
}
