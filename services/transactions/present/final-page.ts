import type { PageInstance, PageTheme } from '#lib/contracts/page-base.ts';
import type {
  FinalPage,
  PageAnswer,
  PagePart,
  PageRecipient,
  WithdrawalChoice,
} from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Notice } from '../sent-parts/notice.ts';
import type { Part, PartState } from '../sent-parts/part.ts';
import { untoldOwners } from '../sent-parts/part-withdrawal.ts';
import { receiptExpiry } from '../transaction/access.ts';
import type { Links } from '../transaction/links.ts';
import { type ReadTransaction, stateAt, type Transaction } from '../transaction/transaction.ts';
import { type ShownStanding, standingOf } from '../withdrawal/withdrawal.ts';
import { presentAnswer, titleOf } from './form-page.ts';
import { embeddingOf } from './page-parts.ts';

const pages = {
  SUBMITTED: 'submitted',
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timeout',
  ROLLBACK: 'rolledback',
} as const;

interface Shown extends Pick<FinalPage, 'contact' | 'asker' | 'keptBy'> {
  /** Undefined unless the transaction is committed. */
  receipt: ReceiptBody | undefined;
  /** The newest answers to the questions on the receipt. */
  standing: readonly ShownStanding[];
  parts: readonly Part[];
  notices: readonly Notice[];
  links: Links;
  language: string;
  instance: PageInstance;
  theme: PageTheme | null;
}

/** The page of a transaction in a final state, or whose answers wait for peers. */
export function finalPage(read: ReadTransaction, shown: Shown): FinalPage {
  const { receipt, standing, parts, notices, links, language, instance, theme, asker, contact, keptBy } =
    shown;
  const { transaction, now } = read;
  const state = stateAt(transaction, now) as keyof typeof pages;
  const waits = state === 'SUBMITTED';
  return {
    page: pages[state],
    language,
    instance,
    theme,
    asker,
    embedding: embeddingOf(read),
    answers: receipt ? receiptAnswers(receipt) : [],
    ...(receipt && { withdrawal: withdrawalChoice(links, receipt, { standing, parts }) }),
    ...(keptBy && { keptBy, toldPeers: toldPeers(notices) }),
    ...(notices.length > 0 && { recipients: notices.map(presentRecipient) }),
    leader: transaction.leader && transaction.author,
    ...(state === 'ROLLBACK' && reasonOf(transaction, parts)),
    parts: parts.map(presentPart),
    at: (state === 'TIMEOUT' || waits ? transaction.expiresAt : transaction.changedAt).toISOString(),
    validUntil: transaction.layout.validityVisible ? (receipt?.expirationTimestamp ?? null) : null,
    receiptUntil: receiptExpiry(transaction)?.toISOString() ?? null,
    links: {
      receipt: state === 'COMMITTED' ? links.receipt : null,
      child: transaction.context.updatable && !waits ? links.child : null,
      again: waits || parts.some(isPending) ? links.transaction : null,
      cancel: waits && transaction.context.cancellable ? links.cancel : null,
    },
    contact,
  };
}

/** What the subject of a receipt can withdraw. @param now.parts of its transaction. */
export function withdrawalChoice(
  { withdraw }: Links,
  receipt: ReceiptBody,
  now: { standing: readonly ShownStanding[]; parts: readonly Part[] },
): WithdrawalChoice {
  const peers = untoldOwners(now.parts).map(({ location }) => location);
  return { url: withdraw, standing: standingOf(receipt, now.standing), peers };
}

/** Names of the peers that are told of a withdrawal. Peers that cannot be told are among the recipients. */
function toldPeers(notices: readonly Notice[]): string[] {
  return notices.flatMap(({ kind, name, state }) =>
    kind === 'PEER' && state !== 'UNSUPPORTED' && state !== 'FAILED' ? name : [],
  );
}

/** The answers on a receipt, as pages show them. */
export function receiptAnswers(receipt: ReceiptBody): PageAnswer[] {
  return receipt.consents.map(({ answer, ...consent }) => ({
    ...presentAnswer(consent, answer),
    owner: null,
  }));
}

/** An organisation that is told of a withdrawal, as pages show it. */
export function presentRecipient({ name, state, outcome, since }: Notice): PageRecipient {
  return { name, state, kept: outcome === 'kept', since: since.toISOString() };
}

/** The reason of a rollback, if the page has a text of its own for it. */
function reasonOf({ awaitsCode }: Transaction, parts: readonly Part[]): Pick<FinalPage, 'reason'> {
  if (awaitsCode) return { reason: 'codes' };
  return parts.some(({ withdrawal }) => withdrawal !== null) ? { reason: 'withdrawn' } : {};
}

/** Whether the owner's verdict on the part is still awaited. */
function isPending({ state }: Part): boolean {
  return state === 'SENDING' || state === 'HELD';
}

/**
 * States of parts on pages. While a part is WAITING, the subject sees the page for the code. After the
 * timeout, the final page may be shown before the sweeper has dropped the part.
 */
const pageStates: Readonly<Record<PartState, PagePart['state']>> = {
  WAITING: 'dropped',
  SENDING: 'sending',
  HELD: 'held',
  ACCEPTED: 'accepted',
  REFUSED: 'refused',
  DROPPED: 'dropped',
};

/**
 * States on pages by the reason of a DROPPED part. `unsent` is the name of a state and of a reason, with
 * different meanings: in the state `unsent` the part was withdrawn before it was sent. A part that was
 * dropped for the reason `unsent` is in the state `dropped`.
 */
const dropReasons = new Map<string | null, PagePart['state']>([
  ['expired', 'late'],
  ['withdrawn', 'unsent'],
]);

/** A part as pages show it. */
export function presentPart({ name, state, reason, shown, withdrawal }: Part): PagePart {
  return {
    owner: name,
    // The reason of a REFUSED part is the owner's own text.
    state: (state === 'DROPPED' && dropReasons.get(reason)) || pageStates[state],
    ...((state === 'ACCEPTED' || state === 'HELD') && withdrawal !== null && { withdrawn: true }),
    elements: shown.elements.map(({ texts, lang }) => ({ title: titleOf(texts), lang })),
  };
}
