import type {
  AnsweredPage,
  ChildPage,
  ErrorPage,
  FinalPage,
  PageContact,
  PagePart,
} from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { answerView, controllerView, recipientViews, withdrawAllView } from './facts.ts';

/** The symbol beside the title; a warning for the other pages. */
const marks: Partial<Record<FinalPage['page'], 'done' | 'neutral'>> = {
  committed: 'done',
  cancelled: 'neutral',
  submitted: 'neutral',
};

/** The page of a transaction that takes no answers: its state and the possible next steps. */
export function finalView(page: FinalPage, reader: Reader) {
  const committed = page.page === 'committed';
  const withdrawal = page.keptBy !== undefined;
  const sent = committed && isSentOnly(page);
  const showsContact = page.links.child === null && page.page !== 'submitted';
  return {
    title: withdrawal
      ? reader.t('withdrawal.title', { count: page.answers.length })
      : reader.t(sent ? titleOfSent(page) : `${page.page}.title`),
    mark: sent ? 'neutral' : (marks[page.page] ?? 'warning'),
    texts: withdrawal
      ? withdrawalTexts(page, reader)
      : committed
        ? committedTexts(page, reader)
        : [reader.t(otherText(page), { date: reader.dateTime(page.at), leader: page.leader ?? '' })],
    answers: page.answers.map((answer) => answerView(answer, reader, page.withdrawal)),
    withdrawAll: withdrawAllView(page.withdrawal),
    parts: page.parts.map((part) => partView(part, reader)),
    isWithdrawal: withdrawal,
    recipients: recipientViews(page.recipients, reader),
    /** Until when the link to the receipt is valid; null without a receipt. */
    keep: page.receiptUntil ? reader.t('committed.keep', { date: reader.date(page.receiptUntil) }) : null,
    /** The link has a query, with its token. */
    pdf: page.links.receipt ? `${page.links.receipt}&format=pdf` : null,
    /**
     * Whether the verdict of an owner or the decision of the leader is awaited: page.js reloads the parts.
     */
    isUnderWay:
      page.page === 'submitted' || page.parts.some(({ state }) => state === 'sending' || state === 'held'),
    callback: page.page === 'submitted' ? null : callbackLink(page, reader),
    /** Label of the button that creates a child. */
    childText: reader.t(withdrawal ? 'withdrawal.undo' : committed ? 'committed.change' : 'final.startAgain'),
    ...contactOf(page.contact, showsContact, reader),
  };
}

/** An accepted part stays in force even if the transaction was rolled back or cancelled. */
function otherText({ page, parts, leader, reason }: FinalPage): string {
  const isOver = page === 'rolledback' || page === 'cancelled';
  if (isOver && parts.some(({ state }) => state === 'accepted')) return 'final.textAgainst';
  if (page === 'submitted' && leader !== null) return 'submitted.textLeader';
  if (page === 'rolledback' && reason === 'codes') return 'rolledback.textCodes';
  if (page === 'rolledback' && reason === 'withdrawn') return 'rolledback.textWithdrawn';
  if (page === 'rolledback' && leader !== null) return 'rolledback.textLeader';
  return page === 'rolledback' && parts.length > 0 ? 'rolledback.textPeers' : `${page}.text`;
}

function partView({ owner, state, withdrawn, elements }: PagePart, reader: Reader) {
  const withdrawnText = state === 'held' ? 'part.heldWithdrawn' : 'part.withdrawn';
  return {
    state,
    title: reader.t('part.title', { owner }),
    text: reader.t(withdrawn ? withdrawnText : `part.${state}`, { owner }),
    elements: elements.map(({ title, lang }) => ({ title, attributes: reader.in(lang) })),
  };
}

/** Whether all answers were to peers: nothing is stored here. */
function isSentOnly({ answers, parts }: FinalPage): boolean {
  return answers.length === 0 && parts.length > 0;
}

/** Answers that were all withdrawn before the code was entered were not sent. */
const areUnsent = ({ parts }: FinalPage) => parts.every(({ state }) => state === 'unsent');
const titleOfSent = (page: FinalPage) => (areUnsent(page) ? 'rolledback.title' : 'committed.titleSent');

function committedTexts(page: FinalPage, reader: Reader): string[] {
  const at = isSentOnly(page) ? 'committed.atSent' : 'committed.at';
  return [
    ...(isSentOnly(page) && areUnsent(page) ? [] : [reader.t(at, { date: reader.dateTime(page.at) })]),
    ...(page.leader === null ? [] : [reader.t('committed.leader', { leader: page.leader })]),
    ...(page.answers.length === 0 && page.parts.length === 0 ? [reader.t('committed.none')] : []),
    ...(page.validUntil && page.answers.length > 0
      ? [reader.t('committed.validUntil', { date: reader.date(page.validUntil) })]
      : []),
  ];
}

function withdrawalTexts(
  { at, answers, withdrawal, keptBy = [], toldPeers = [] }: FinalPage,
  reader: Reader,
): string[] {
  const isGivenAgain = withdrawal?.standing.some(({ withdrawn }) => withdrawn === null);
  return [
    ...(answers.length > 0
      ? [reader.t('withdrawal.at', { count: answers.length, date: reader.dateTime(at) })]
      : []),
    ...(isGivenAgain ? [reader.t('withdrawal.again')] : []),
    ...toldPeers.map((owner) => reader.t('withdrawal.told', { owner })),
    reader.t('withdrawal.before'),
    ...keptBy.map((owner) => reader.t('withdrawal.peer', { owner })),
  ];
}

/** A link, so that it works without JavaScript; http and https only (docs/security.md, "Pages"). */
function callbackLink({ embedding }: FinalPage, reader: Reader) {
  const url = embedding?.callback;
  if (!url || !safeUrl(url)?.startsWith('http')) return null;
  const { host } = new URL(url);
  return {
    url,
    text: reader.t('final.callback', { host }),
    /** The text of the countdown, in which page.js replaces `{time}`. */
    note: reader.t('final.callbackNote', { host, time: '{time}' }),
  };
}

/** The contact, on pages without a link or button to another page. */
function contactOf(pageContact: PageContact | null, isShown: boolean, reader: Reader) {
  if (!isShown) return { contact: null, contactLanguage: {}, contactText: null };
  const contactLanguage = pageContact?.lang ? reader.in(pageContact.lang) : {};
  const contact = controllerView(pageContact);
  const contactText = contact?.company
    ? reader.t('contact.ask', { company: contact.company })
    : reader.t('contact.askAnyone');
  return { contact, contactLanguage, contactText };
}

/** The page that asks for confirmation before a child is created. */
export function childView(page: ChildPage, reader: Reader) {
  const kind = page.state === 'COMMITTED' ? 'COMMITTED' : 'other';
  return {
    title: reader.t(`child.title.${kind}`),
    text: reader.t(`child.text.${kind}`),
    button: reader.t(`child.button.${kind}`),
    answers: (page.answers ?? [])
      .map((answer) => answerView(answer, reader, page.withdrawal))
      .filter(({ withdrawable }) => withdrawable !== null),
    withdrawAll: withdrawAllView(page.withdrawal),
  };
}

export function answeredView(page: AnsweredPage, reader: Reader) {
  return {
    title: reader.t('answered.title'),
    answers: page.answers.map((answer) => answerView(answer, reader)),
  };
}

/** Errors that the subject cannot resolve without help. */
const needsContact = new Set<ErrorPage['code']>(['expired', 'withdrawn', 'layout-conflict']);

/** The title and the remedy for the subject. The problem's detail is for clients and is not shown. */
export function errorView(page: ErrorPage, reader: Reader) {
  const hasLink = page.links.child !== null || page.links.transaction !== null;
  return {
    title: reader.t(`error.${page.code}.title`),
    text: reader.t(`error.${page.code}.text`),
    kept: page.links.child !== null && page.entered?.length ? reader.t('error.expired.kept') : null,
    retry: page.retryAfter === undefined ? null : retryText(page.retryAfter, reader),
    ...contactOf(page.contact, !hasLink && (page.contact !== null || needsContact.has(page.code)), reader),
  };
}

/** When to try again, in the unit that people use for such a time. */
function retryText(seconds: number, reader: Reader): string {
  if (seconds < 120) return reader.t('error.retryAfter', { seconds });
  if (seconds < 7_200) return reader.t('error.retryAfterMinutes', { minutes: Math.ceil(seconds / 60) });
  return reader.t('error.retryAfterHours', { hours: Math.ceil(seconds / 3_600) });
}
