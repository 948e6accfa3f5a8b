import type { ReceiptPage, ResultPage } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ShownTexts } from '../receipts/receipt.ts';
import type { Part } from '../sent-parts/part.ts';
import { untoldOwners } from '../sent-parts/part-withdrawal.ts';
import { receiptExpiry } from '../transaction/access.ts';
import type { Links } from '../transaction/links.ts';
import type { TransactionResult } from '../withdrawal/results.ts';
import { type ShownStanding, standingOf } from '../withdrawal/withdrawal.ts';
import { pageOf, type Related } from './transaction.ts';

interface Shown {
  links: Links;
  related: Related;
  baseUrl: string;
  keptBy?: string[] | undefined;
  choicesAt?: (string | null)[] | undefined;
}

/** The page of a transaction in a final state, or whose answers wait for peers; or of its child. */
export function resultPage(
  page: ResultPage['page'],
  read: TransactionResult,
  { links, related, baseUrl, keptBy, choicesAt }: Shown,
): ResultPage {
  const { transaction } = read;
  const parts = related.parts.get(transaction.id) ?? [];
  const receipt = read.receipt === null ? undefined : (JSON.parse(read.receipt) as ReceiptBody);
  return {
    page,
    ...pageOf(read, baseUrl, { related, links }),
    ...(receipt && { receipt, withdrawal: withdrawalChoice(links, receipt, { ...read, parts }) }),
    asked: parts.map(({ shown }) => shown.elements.map(shownTitle)),
    choicesAt,
    keptBy,
    awaitsCode: transaction.awaitsCode,
    changed: transaction.changedAt.toISOString(),
    receiptUntil: receiptExpiry(transaction)?.toISOString(),
    cancel: links.cancel,
  };
}

/** What the subject of a receipt can withdraw. @param now.parts of its transaction. */
export function withdrawalChoice(
  { withdraw }: Links,
  receipt: ReceiptBody,
  now: { standing: readonly ShownStanding[]; parts: readonly Part[] },
): NonNullable<ReceiptPage['withdrawal']> {
  const peers = untoldOwners(now.parts).map(({ location }) => location);
  return { url: withdraw, standing: standingOf(receipt, now.standing), peers };
}

/** The title of an element as it was shown. */
export function shownTitle({ texts, lang }: Pick<ShownTexts, 'texts' | 'lang'>) {
  return { title: titleOf(texts), lang };
}

export function titleOf(texts: { title?: unknown; label?: unknown }): string {
  return String(texts.title ?? texts.label ?? '');
}
