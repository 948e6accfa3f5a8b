import type { PageInstance, PageTheme } from '#lib/contracts/page-base.ts';
import type { FinalPage, PageAnswer, PagePart } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { receiptExpiry } from '../domain/access.ts';
import type { Follower, FollowerState } from '../domain/part.ts';
import { type ReadTransaction, stateAt } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import { decisionOf } from './form-page.ts';
import { embeddingOf } from './page-parts.ts';

const pages = {
  SUBMITTED: 'submitted',
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timeout',
  ROLLBACK: 'rolledback',
} as const;

/** The page of a transaction that nobody answers any more. @param receipt of a committed one. @param contact who asked. */
export function finalPage(
  read: ReadTransaction,
  {
    receipt,
    followers,
    contact,
    token,
    language,
    instance,
    theme,
    asker,
  }: {
    receipt: ReceiptBody | undefined;
    followers: readonly Follower[];
    contact: FinalPage['contact'];
    token: string;
    language: string;
    instance: PageInstance;
    theme: PageTheme | null;
    asker: FinalPage['asker'];
  },
): FinalPage {
  const { transaction, now } = read;
  const links = linksOf(instance.baseUrl, transaction.id);
  const state = stateAt(transaction, now) as keyof typeof pages;
  const waits = state === 'SUBMITTED';
  return {
    page: pages[state],
    language,
    instance,
    theme,
    asker,
    embedding: embeddingOf(read),
    answers: receipt ? receipt.consents.map(givenAnswer) : [],
    leader: transaction.leader && transaction.author,
    parts: followers.map(givenPart),
    at: (state === 'TIMEOUT' || waits ? transaction.expiresAt : transaction.changedAt).toISOString(),
    validUntil: transaction.layout.validityVisible ? (receipt?.expirationTimestamp ?? null) : null,
    receiptUntil: receiptExpiry(transaction)?.toISOString() ?? null,
    links: {
      receipt: state === 'COMMITTED' ? withToken(links.receipt, token) : null,
      child: transaction.context.updatable && !waits ? withToken(links.child, token) : null,
      again: waits || followers.some(isUnderWay) ? withToken(links.transaction, token) : null,
      cancel: waits && transaction.context.cancellable ? withToken(links.cancel, token) : null,
    },
    contact,
  };
}

/** Whether its owner has not had the last word yet. */
function isUnderWay({ state }: Follower): boolean {
  return state === 'WAITING' || state === 'SENDING' || state === 'HELD';
}

const partStates: Readonly<Record<FollowerState, PagePart['state']>> = {
  WAITING: 'sending',
  SENDING: 'sending',
  HELD: 'held',
  ACCEPTED: 'accepted',
  REFUSED: 'refused',
  DROPPED: 'dropped',
};

function givenPart({ name, state, reason, shown }: Follower): PagePart {
  return {
    owner: name,
    state: reason === 'expired' ? 'late' : partStates[state],
    elements: shown.elements.map(({ texts, lang }) => ({ title: titleOf(texts), lang })),
  };
}

function titleOf(texts: Record<string, unknown>): string {
  return String(texts.title ?? texts.label ?? '');
}

function givenAnswer(consent: ReceiptBody['consents'][number]): PageAnswer {
  const { texts, type } = consent;
  return {
    identifier: consent.identifier,
    type,
    title: titleOf(texts),
    lang: consent.lang,
    owner: null,
    decision: decisionOf(consent.identifier, texts, consent.answer),
    values: type === 'preference' ? consent.answer : [],
  };
}
