import type { PageInstance, PageTheme } from '#lib/contracts/page-base.ts';
import type { FinalPage, PageAnswer } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { linksOf, withToken } from '../domain/links.ts';
import { stateAt } from '../domain/states.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { embeddingOf } from './embedding.ts';

const pages = {
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timeout',
  ROLLBACK: 'rolledback',
} as const;

/** The page of a transaction in a final state. @param receipt of a committed one. @param contact whom to ask where there is none. */
export function finalPage(
  read: ReadTransaction,
  {
    receipt,
    contact,
    token,
    language,
    instance,
    theme,
  }: {
    receipt: ReceiptBody | undefined;
    contact: FinalPage['contact'];
    token: string;
    language: string;
    instance: PageInstance;
    theme: PageTheme | null;
  },
): FinalPage {
  const { transaction, now } = read;
  const links = linksOf(instance.baseUrl, transaction.id);
  const state = stateAt(transaction, now) as keyof typeof pages;
  const controller = receipt?.information.texts.dataController as FinalPage['contact'] | undefined;
  return {
    page: pages[state],
    language,
    instance,
    theme,
    embedding: embeddingOf(read),
    answers: receipt ? receipt.consents.map(givenAnswer) : [],
    at: (state === 'TIMEOUT' ? transaction.expiresAt : transaction.changedAt).toISOString(),
    validUntil: transaction.layout.validityVisible ? (receipt?.expirationTimestamp ?? null) : null,
    links: {
      receipt: state === 'COMMITTED' ? withToken(links.receipt, token) : null,
      child: transaction.context.updatable ? withToken(links.child, token) : null,
    },
    contact: controller ?? contact,
  };
}

function givenAnswer(consent: ReceiptBody['consents'][number]): PageAnswer {
  const { texts, type } = consent;
  return {
    identifier: consent.identifier,
    type,
    title: String(texts.title ?? texts.label ?? ''),
    lang: consent.lang,
    owner: null,
    decision: type === 'preference' ? null : consent.answer[0] === 'accepted' ? 'accepted' : 'refused',
    values: type === 'preference' ? consent.answer : [],
  };
}
