import { recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { requireAccess } from '../domain/access.ts';
import type { ReceiptSigner } from '../domain/receipt.ts';
import { type ReadTransaction, recordsExpiry, stateAt } from '../domain/transaction.ts';
import { changeLink, type TransactionTokens } from '../domain/transaction-token.ts';
import {
  acceptedOf,
  chooseConsents,
  composeWithdrawal,
  earlierWithdrawal,
  ownKeys,
  readWithdrawal,
  type WithdrawalRequest,
  withdrawalReceipt,
  withdrawalTime,
} from '../domain/withdrawal.ts';
import { readTransaction } from '../queries/transactions.ts';
import { insertWithdrawal, lockSubject, readReceipts, readStanding } from '../queries/withdrawals.ts';

import { type Messaging, queueWithdrawalNews } from './queue-messages.ts';

interface Dependencies {
  db: Database;
  instance: { name: string; baseUrl: string };
  tokens: TransactionTokens;
  signReceipt: ReceiptSigner;
  messaging: Messaging;
  /** Wakes the outbox relay. */
  wake: () => void;
}

/**
 * Withdraws consents to the questions of a committed transaction, wherever each was answered last
 * (docs/withdrawal.md). Idempotent: a request whose consents were withdrawn before returns that withdrawal.
 * It asks no other service, so that people can withdraw while forms are unavailable.
 * @param body `WithdrawalInput` of openapi.yaml.
 * @throws Failure of {@link requireAccess} and {@link readWithdrawal}; `wrong-state`, `nothing-to-withdraw`,
 * `not-withdrawable`.
 */
export async function withdrawConsents(
  dependencies: Dependencies,
  { id, principal, body }: { id: string; principal: Principal; body: unknown },
): Promise<ReadTransaction & { created: boolean }> {
  const { db, wake, instance } = dependencies;
  const read = requireAccess(principal, await readTransaction(db, id), 'result');
  const state = stateAt(read.transaction, read.now);
  if (state !== 'COMMITTED')
    throw fail('wrong-state', `The transaction is ${state}; only consents in force can be withdrawn.`, {
      members: { state, breed: `${instance.baseUrl}/consents/${id}/child` },
    });
  const request = readWithdrawal(body);
  const result = await db.withTransaction((tx) => withdraw(dependencies, tx, { read, principal, request }));
  if (result.created) wake();
  return result;
}

async function withdraw(
  { instance, tokens, signReceipt, messaging }: Dependencies,
  tx: Queries,
  { read, principal, request }: { read: ReadTransaction; principal: Principal; request: WithdrawalRequest },
): Promise<ReadTransaction & { created: boolean }> {
  const { transaction: parent } = read;
  const { subject, context } = parent;
  const own = ownKeys(parent);
  await lockSubject(tx, subject);
  const { clock, standing } = await readStanding(tx, { subject, object: context.object ?? '', keys: own });
  const bodies = await readReceipts(
    tx,
    acceptedOf(standing, request).map(({ transaction }) => transaction),
  );
  const receipts = new Map([...bodies].map(([id, { body }]) => [id, JSON.parse(body) as ReceiptBody]));
  const withdrawn = chooseConsents({ own, standing, receipts }, request);
  if (withdrawn.length === 0) {
    const earlier = earlierWithdrawal(standing, request);
    const known = earlier === undefined ? undefined : await readTransaction(tx, earlier);
    if (known) return { ...known, created: false };
    throw fail('nothing-to-withdraw', 'None of these questions was accepted, or they are refused already.', {
      members: { state: parent.state },
    });
  }
  const at = withdrawalTime(clock, standing);
  const facts = { parent, principal, comment: request.comment, at, instance };
  const { created, commitment } = composeWithdrawal(withdrawn, facts);
  const updateUrl = changeLink(tokens, instance.baseUrl, created, recordsExpiry(created, at));
  const receipt = withdrawalReceipt(withdrawn, created, facts, updateUrl);
  const signed = { ...commitment, receipt: { body: receipt, jws: signReceipt(receipt) } };
  await insertWithdrawal(tx, created, signed, instance.baseUrl);
  if (isPrivileged(principal)) {
    await recordAction(tx, { action: 'consent.withdrawn', target: `transaction/${created.id}` });
    await queueWithdrawalNews(tx, messaging, created);
  }
  const transaction = { ...created, state: 'COMMITTED' as const, version: created.version + 1 };
  return { transaction, now: at, created: true };
}
