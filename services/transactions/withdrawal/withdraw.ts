import { recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import { claimDocument } from '../documents/store.ts';
import { type Messaging, queueWithdrawalNews } from '../messages/queue.ts';
import { lockSubject } from '../person/positions-sql.ts';
import type { ReceiptSigner } from '../receipts/receipt.ts';
import { readReceiptBodies } from '../receipts/store.ts';
import { queuePeerNotices } from '../sent-parts/notices-store.ts';
import { chooseParts, isOfConditions, type StandingPart } from '../sent-parts/part-withdrawal.ts';
import { type Asked, readClock, readInForce, readWaitingConsents } from '../standing/answers-store.ts';
import { effectOf, questionOf, type Source, sinceOf } from '../standing/in-force.ts';
import { incomingOf, type StandingAnswer, statedTime } from '../standing/standing-answer.ts';
import { readStanding } from '../standing/store.ts';
import { requireAccess, transactionBusy } from '../transaction/access.ts';
import { changeLink, type TransactionTokens } from '../transaction/links.ts';
import { readTransaction } from '../transaction/store.ts';
import { type ReadTransaction, stateAt, type Transaction } from '../transaction/transaction.ts';
import { insertWithdrawal, readStandingParts } from './store.ts';
import {
  acceptedOf,
  chooseConsents,
  composeWithdrawal,
  ownKeys,
  type Withdrawn,
  withdrawalReceipt,
} from './withdrawal.ts';
import { earlierWithdrawal, readWithdrawal, type WithdrawalRequest } from './withdrawal-request.ts';

export interface WithdrawDependencies {
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
 * Withdraws consents to the questions of a committed transaction, wherever each was answered last, and tells
 * the peers that keep a part of it (docs/withdrawal.md). Idempotent: a request whose consents were
 * withdrawn before returns that withdrawal; with a transaction token, only if it was made at this
 * transaction. It asks no other service, so that people can withdraw while forms are unavailable.
 * @param body `WithdrawalInput` of openapi.yaml.
 * @throws Failure of {@link requireAccess} and {@link readWithdrawal}; `wrong-state`, `nothing-to-withdraw`,
 * `not-withdrawable`.
 */
export async function withdrawConsents(
  dependencies: WithdrawDependencies,
  { id, principal, body }: { id: string; principal: Principal; body: unknown },
): Promise<Withdrawal> {
  const { db, wake, instance } = dependencies;
  const readParent = async (queries: Queries) =>
    requireAccess(principal, await readTransaction(queries, id), 'result');
  const read = await readParent(db);
  const state = stateAt(read.transaction, read.now);
  if (state !== 'COMMITTED')
    throw fail(
      'wrong-state',
      `The transaction is ${state}; consents are withdrawn at a COMMITTED transaction, or with POST /choices/withdraw.`,
      {
        members: { state, breed: `${instance.baseUrl}/consents/${id}/child` },
      },
    );
  const request = readWithdrawal(body);
  const { subject, context } = read.transaction;
  const own = ownKeys(read.transaction);
  const done = await db.withTransaction(async (tx) => {
    await lockSubject(tx, subject);
    // The person may have been erased while the lock was waited for.
    const { transaction: parent } = await readParent(tx);
    const standing = await readAnswers(tx, { subject, object: context.object ?? '', keys: own });
    const parts = await readStandingParts(tx, { transaction: id });
    return withdraw(dependencies, tx, { principal, request, own, standing, parts, parent, orderedBy: null });
  });
  if (!done) throw nothingToWithdraw({ state });
  if (done.created) wake();
  return done;
}

/**
 * Withdraws consents of a person, wherever they were given: those to the questions that the request names, or
 * all processings. Each object has a withdrawal of its own, and conditions have another one, because the
 * form of its child must not ask them beside other elements; all are stored in one COMMIT.
 * @param object only consents about it; empty: those without an object.
 * @param body `PersonWithdrawalInput` of openapi.yaml, which may name so many questions (`maxNamed`).
 * @param within only consents whose answer in force is of one of these transactions, and no parts of peers.
 * @throws Failure of {@link readWithdrawal}; `nothing-to-withdraw`, `not-withdrawable`.
 */
export async function withdrawOfPerson(
  dependencies: WithdrawDependencies,
  given: {
    subject: string;
    object: string | undefined;
    principal: Principal;
    body: unknown;
    within?: ReadonlySet<string> | undefined;
    maxNamed?: number;
  },
): Promise<Withdrawal[]> {
  const { subject, object, principal, within } = given;
  const request = readWithdrawal(given.body, given.maxNamed);
  const done = await dependencies.db.withTransaction(async (tx) => {
    await lockSubject(tx, subject);
    const all = await readAnswers(tx, { subject });
    const standing = within ? answersWithin(all, ({ transaction }) => within.has(transaction)) : all;
    const sent = within ? [] : await readStandingParts(tx, { subject });
    const objects = [...new Set([...standing, ...sent].map((each) => each.object))];
    const asked = objects.filter((each) => object === undefined || each === object);
    const withdrawals: Withdrawal[] = [];
    for (const [each, areConditions] of asked.flatMap((each) => [
      [each, false] as const,
      [each, true] as const,
    ])) {
      const answers = standing.filter(
        (answer) => answer.object === each && (answer.type === 'conditions') === areConditions,
      );
      const parts = sent.filter((part) => part.object === each && isOfConditions(part) === areConditions);
      // Without names, only conditions that wait to be sent are taken back.
      if (areConditions && request.keys === undefined && parts.length === 0) continue;
      const own = answers.map(({ key }) => key);
      const keys = request.keys?.filter((key) => own.includes(key));
      const peers = request.peers?.filter((peer) => parts.some(({ location }) => location === peer));
      if (keys?.length === 0 && peers?.length === 0) continue;
      const about = { own, standing: answers, parts, parent: null, orderedBy: null };
      const named = { ...request, keys, peers, collection: collectionOf(request, withdrawals.length === 0) };
      const withdrawal = await withdraw(dependencies, tx, { principal, request: named, ...about });
      if (withdrawal) withdrawals.push(withdrawal);
    }
    return withdrawals;
  });
  if (done.length === 0) throw nothingToWithdraw();
  if (done.some(({ created }) => created)) dependencies.wake();
  return done;
}

/** A scan belongs to one transaction: that of the first withdrawal. */
function collectionOf({ collection }: WithdrawalRequest, isFirst: boolean): WithdrawalRequest['collection'] {
  if (!collection || isFirst) return collection;
  const { document: _first, ...rest } = collection;
  return rest;
}

function nothingToWithdraw(members?: { state: string }) {
  return fail(
    'nothing-to-withdraw',
    'Nothing is left to withdraw: none of these consents is in force, and no peer is to be told.',
    members && { members },
  );
}

export interface AskedWithdrawal {
  principal: Principal;
  request: WithdrawalRequest;
  /** Keys of the questions that may be named. */
  own: readonly string[];
  /** The answers in force and then the consents that wait, all about one object ({@link readAnswers}). */
  standing: readonly StandingAnswer[];
  /** The parts that the request may name, by the base URL of their owner. */
  parts: readonly StandingPart[];
  /** The transaction at which the request was made; null if it was made for a person. */
  parent: Transaction | null;
  /** As in `WithdrawalFacts`. */
  givenAt?: Date | undefined;
  orderedBy: Source;
}

/**
 * The answers in force to questions, then the consents that may come into force later: those that were
 * withdrawn since they were given are left out.
 */
export async function readAnswers(tx: Queries, asked: Asked): Promise<StandingAnswer[]> {
  const inForce = await readInForce(tx, asked);
  const waiting = await readWaitingConsents(tx, asked);
  const open: StandingAnswer[] = [];
  for (const answer of waiting) {
    const { subject } = asked;
    const { object, key } = answer;
    if (open.some((first) => first.object === object && first.key === key)) continue;
    const incoming = incomingOf(answer);
    const standing = await readStanding(tx, { subject, object, keys: [key] }, sinceOf(incoming));
    if (effectOf(incoming, questionOf(standing, key)).isInForce) open.push(answer);
  }
  return [...inForce, ...open];
}

/**
 * The answers of {@link readAnswers} that a withdrawal covers. If it does not cover the answer in force to a
 * question, none is left, also not a consent that waits: the refusal would end the answer in force.
 */
export function answersWithin(
  answers: readonly StandingAnswer[],
  isCovered: (answer: StandingAnswer) => boolean,
): StandingAnswer[] {
  const isSame = (one: StandingAnswer, other: StandingAnswer) =>
    one.object === other.object && one.key === other.key;
  return answers.filter((answer) => {
    const first = answers.find((each) => isSame(each, answer)) as StandingAnswer;
    return isCovered(answer) && isCovered(first);
  });
}

/**
 * Stores a withdrawal; the subject is locked.
 * @returns the earlier withdrawal if nothing is left to withdraw; undefined if there is none.
 */
export async function withdraw(
  { instance, tokens, signReceipt, messaging }: WithdrawDependencies,
  tx: Queries,
  { principal, request, own, standing, parts: sent, parent, givenAt, orderedBy }: AskedWithdrawal,
): Promise<Withdrawal | undefined> {
  const parts = chooseParts(sent, request.peers);
  const accepted = acceptedOf(standing, request);
  const bodies = await readReceiptBodies(
    tx,
    [...accepted, ...parts].map(({ transaction }) => transaction),
  );
  const receipts = new Map([...bodies].map(([id, body]) => [id, JSON.parse(body) as ReceiptBody]));
  const withdrawn = chooseConsents({ own, standing, receipts }, request);
  const newest = newestOf(withdrawn)?.answer ?? parts[0];
  if (!newest) {
    // To the bearer of a transaction token only a withdrawal that was made at this transaction is returned.
    const earlier = earlierWithdrawal({ standing, parts: sent }, request, principal.transaction?.id);
    const known = earlier === undefined ? undefined : await readTransaction(tx, earlier);
    return known && { ...known, created: false };
  }
  const source = parent ?? (await readTransaction(tx, newest.transaction))?.transaction;
  const shown = receipts.get(newest.transaction);
  // The transaction of a part that waits may have been cancelled meanwhile.
  if (!source || !shown) throw transactionBusy();
  const at = await readClock(tx);
  const inForce = standing.filter(({ committedAt }) => committedAt !== null);
  const where = { source, inForce, shown, parts, parent: parent?.id ?? null, orderedBy };
  const { comment, collection } = request;
  if (collection && !isPrivileged(principal))
    throw fail('forbidden', 'Only an operator may withdraw on behalf of somebody.');
  const facts = { ...where, principal, comment, collection, at, givenAt, instance };
  const { created, commitment } = composeWithdrawal(withdrawn, facts);
  const updateUrl = changeLink(tokens, instance.baseUrl, created, { until: null, now: at });
  const receipt = withdrawalReceipt(withdrawn, created, facts, updateUrl);
  const signed = { ...commitment, receipt: { body: receipt, jws: signReceipt(receipt) } };
  await insertWithdrawal(tx, created, signed, instance.baseUrl);
  await claimDocument(tx, created, '/collection/document');
  const told = sql`f.sid = ANY(${parts.map(({ sid }) => sid)}::text[])`;
  if (parts.length > 0) await queuePeerNotices(tx, { withdrawal: created.id }, told, instance.baseUrl);
  if (isPrivileged(principal)) {
    await recordAction(tx, { action: 'consent.withdrawn', target: `transaction/${created.id}` });
    await queueWithdrawalNews(tx, messaging, created);
  }
  const transaction = { ...created, state: 'COMMITTED' as const, version: created.version + 1 };
  return { transaction, now: at, created: true };
}

/** The consent that was given last; undefined if there is none. */
function newestOf(withdrawn: readonly Withdrawn[]): Withdrawn | undefined {
  return withdrawn.toSorted((a, b) => statedTime(b.answer).getTime() - statedTime(a.answer).getTime())[0];
}
