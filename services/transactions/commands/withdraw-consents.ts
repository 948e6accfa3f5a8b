import { recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { requireAccess } from '../domain/access.ts';
import type { ReceiptSigner } from '../domain/receipt.ts';
import { type ReadTransaction, recordsExpiry, stateAt, type Transaction } from '../domain/transaction.ts';
import { changeLink, type TransactionTokens } from '../domain/transaction-token.ts';
import {
  acceptedOf,
  chooseConsents,
  composeWithdrawal,
  earlierWithdrawal,
  newestOf,
  ownKeys,
  readWithdrawal,
  type StandingAnswer,
  type WithdrawalRequest,
  withdrawalReceipt,
  withdrawalTime,
} from '../domain/withdrawal.ts';
import { readTransaction } from '../queries/transactions.ts';
import {
  insertWithdrawal,
  lockSubject,
  readAllStanding,
  readReceipts,
  readStanding,
} from '../queries/withdrawals.ts';

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

type Withdrawal = ReadTransaction & { created: boolean };

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
): Promise<Withdrawal> {
  const { db, wake, instance } = dependencies;
  const read = requireAccess(principal, await readTransaction(db, id), 'result');
  const { transaction: parent } = read;
  const state = stateAt(parent, read.now);
  if (state !== 'COMMITTED')
    throw fail('wrong-state', `The transaction is ${state}; only consents in force can be withdrawn.`, {
      members: { state, breed: `${instance.baseUrl}/consents/${id}/child` },
    });
  const request = readWithdrawal(body);
  const { subject, context } = parent;
  const own = ownKeys(parent);
  const done = await db.withTransaction(async (tx) => {
    await lockSubject(tx, subject);
    const { clock, standing } = await readStanding(tx, { subject, object: context.object ?? '', keys: own });
    return withdraw(dependencies, tx, { principal, request, own, standing, clock, parent });
  });
  if (!done) throw nothingToWithdraw({ state });
  if (done.created) wake();
  return done;
}

/**
 * Withdraws consents of a person, wherever they were given: those to the questions that the request names, or
 * all processings. Each object has a withdrawal of its own; all are stored in one COMMIT.
 * @param object only consents about it. @param body `PersonWithdrawalInput` of openapi.yaml.
 * @throws Failure of {@link readWithdrawal}; `nothing-to-withdraw`, `not-withdrawable`.
 */
export async function withdrawOfPerson(
  dependencies: Dependencies,
  given: { subject: string; object: string | undefined; principal: Principal; body: unknown },
): Promise<Withdrawal[]> {
  const { subject, object, principal } = given;
  const request = readWithdrawal(given.body);
  const done = await dependencies.db.withTransaction(async (tx) => {
    await lockSubject(tx, subject);
    const { clock, standing } = await readAllStanding(tx, subject);
    const about = standing.filter((answer) => object === undefined || answer.object === object);
    const withdrawals: Withdrawal[] = [];
    for (const answers of Map.groupBy(about, (answer) => answer.object).values()) {
      const own = answers.map(({ key }) => key);
      const keys = request.keys?.filter((key) => own.includes(key));
      if (keys?.length === 0) continue;
      const asked = { principal, request: { ...request, keys }, own, standing: answers, clock, parent: null };
      const withdrawal = await withdraw(dependencies, tx, asked);
      if (withdrawal) withdrawals.push(withdrawal);
    }
    return withdrawals;
  });
  if (done.length === 0) throw nothingToWithdraw();
  if (done.some(({ created }) => created)) dependencies.wake();
  return done;
}

function nothingToWithdraw(members?: { state: string }) {
  return fail(
    'nothing-to-withdraw',
    'None of these questions was accepted, or they are refused already.',
    members && { members },
  );
}

interface Asked {
  principal: Principal;
  request: WithdrawalRequest;
  /** Keys of the questions that may be named. */
  own: readonly string[];
  /** The newest answers to them, all about one object. */
  standing: readonly StandingAnswer[];
  clock: Date;
  /** The transaction at which the request was made; null if it was made for a person. */
  parent: Transaction | null;
}

/**
 * Stores a withdrawal; the subject is locked.
 * @returns the earlier withdrawal if nothing is left to withdraw; undefined if there is none.
 */
async function withdraw(
  { instance, tokens, signReceipt, messaging }: Dependencies,
  tx: Queries,
  { principal, request, own, standing, clock, parent }: Asked,
): Promise<Withdrawal | undefined> {
  const bodies = await readReceipts(
    tx,
    acceptedOf(standing, request).map(({ transaction }) => transaction),
  );
  const receipts = new Map([...bodies].map(([id, { body }]) => [id, JSON.parse(body) as ReceiptBody]));
  const withdrawn = chooseConsents({ own, standing, receipts }, request);
  if (withdrawn.length === 0) {
    const earlier = earlierWithdrawal(standing, request);
    const known = earlier === undefined ? undefined : await readTransaction(tx, earlier);
    return known && { ...known, created: false };
  }
  const source = parent ?? (await readTransaction(tx, newestOf(withdrawn).answer.transaction))?.transaction;
  if (!source) throw new Error('a record has no transaction');
  const at = withdrawalTime(clock, standing);
  const facts = { source, parent: parent?.id ?? null, principal, comment: request.comment, at, instance };
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
