import { areObjections, isObjection } from '#lib/contracts/element-rules.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ErrorPage, ResultPage } from '#lib/contracts/pages.ts';
import { isAnonymousSubject } from '#lib/contracts/public-forms.ts';
import { problemStatus } from '#lib/http/problem.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { enteredFields } from '../domain/entered-answers.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { thereAt } from './choices-view.ts';
import {
  answerView,
  controllerOf,
  controllerView,
  partState,
  recipientViews,
  withdrawAllView,
} from './facts.ts';
import type { Drawn, PageModel } from './page-model.ts';

type Follower = components['schemas']['Follower'];
type Result = Drawn<ResultPage>;

/** Names of the pages of results, by state. */
const names = {
  SUBMITTED: 'submitted',
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timeout',
  ROLLBACK: 'rolledback',
} as const;

export function resultName({ transaction }: ResultPage) {
  return names[transaction.state as keyof typeof names];
}

/** The symbol beside the title; a warning for the other pages. */
const marks: Partial<Record<string, 'done' | 'neutral'>> = {
  committed: 'done',
  cancelled: 'neutral',
  submitted: 'neutral',
};

/** The page of a transaction that takes no answers: its state and the possible next steps. */
export function resultView(page: Result, reader: Reader) {
  const { transaction } = page;
  const { kind, followers, links, cancellable } = transaction;
  const name = resultName(page);
  const isCommitted = name === 'committed';
  const waits = name === 'submitted';
  const isSent = isCommitted && isSentOnly(page);
  const isUnderWay = waits || followers.some(({ state }) => state === 'SENDING' || state === 'HELD');
  return {
    title: kind ? withdrawalTitle(page, reader) : reader.t(isSent ? titleOfSent(page) : `${name}.title`),
    mark: isSent ? 'neutral' : (marks[name] ?? 'warning'),
    texts: textsOf(page, reader),
    answers: answersOf(page).map((answer) => answerView(answer, reader, page.withdrawal)),
    withdrawAll: withdrawAllView(page.withdrawal),
    parts: followers.map((follower, place) => partView(follower, page, place, reader)),
    recipients: recipientViews(transaction.recipients, reader),
    /** Until when the link to the receipt is valid; null without a receipt. */
    keep: page.receiptUntil ? reader.t('committed.keep', { date: reader.date(page.receiptUntil) }) : null,
    links: {
      receipt: links?.receipt,
      /** The link has a query, with its token. */
      pdf: links?.receipt && `${links.receipt}&format=pdf`,
      child: links?.child,
      /** This page again, while a verdict on the answers or on a part can still arrive. */
      again: isUnderWay ? links?.subject : null,
      cancel: waits && cancellable ? page.cancel : null,
    },
    /**
     * Whether the verdict of an owner or the decision of the leader is awaited: page.js reloads the parts.
     */
    isUnderWay,
    choices: isCommitted ? page.choices : undefined,
    callback: waits ? null : callbackLink(page, reader),
    /** Label of the button that creates a child. */
    childText: reader.t(kind ? 'withdrawal.undo' : isCommitted ? 'committed.change' : 'final.startAgain'),
    ...contactOf(page, links?.child === undefined && !waits, reader),
  };
}

function answersOf({ receipt }: ResultPage) {
  return (receipt?.consents ?? []).map((consent) => ({ ...consent, owner: null }));
}

function textsOf(page: Result, reader: Reader): string[] {
  const { transaction, changed } = page;
  const name = resultName(page);
  if (transaction.kind) return withdrawalTexts(page, reader);
  if (name === 'committed') return committedTexts(page, reader);
  const date = reader.dateTime(name === 'timeout' || name === 'submitted' ? transaction.expires : changed);
  return [reader.t(otherText(page), { date, leader: leaderOf(page) ?? '' })];
}

/** Name of the peer that showed the form; null if this instance did. */
function leaderOf({ transaction: { leader, author } }: ResultPage): string | null {
  return leader ? (author ?? '') : null;
}

/** An accepted part stays in force even if the transaction was rolled back or cancelled. */
function otherText(page: ResultPage): string {
  const name = resultName(page);
  const { followers, leader } = page.transaction;
  const isOver = name === 'rolledback' || name === 'cancelled';
  if (isOver && followers.some(({ state }) => state === 'ACCEPTED')) return 'final.textAgainst';
  if (name === 'submitted' && leader) return 'submitted.textLeader';
  if (name !== 'rolledback') return `${name}.text`;
  if (page.awaitsCode) return 'rolledback.textCodes';
  if (followers.some(({ withdrawal }) => withdrawal)) return 'rolledback.textWithdrawn';
  if (leader) return 'rolledback.textLeader';
  return followers.length > 0 ? 'rolledback.textPeers' : 'rolledback.text';
}

function partView(follower: Follower, { asked, choicesAt }: ResultPage, place: number, reader: Reader) {
  const { name: owner } = follower;
  const { state, isWithdrawn } = partState(follower);
  const withdrawnText = state === 'held' ? 'part.heldWithdrawn' : 'part.withdrawn';
  return {
    state,
    title: reader.t('part.title', { owner }),
    text: reader.t(isWithdrawn ? withdrawnText : `part.${state}`, { owner }),
    elements: (asked[place] ?? []).map(({ title, lang }) => ({ title, attributes: reader.in(lang) })),
    there: thereAt(choicesAt?.[place], owner, reader),
  };
}

/** Whether all answers were to peers: nothing is stored here. */
function isSentOnly(page: ResultPage): boolean {
  return answersOf(page).length === 0 && page.transaction.followers.length > 0;
}

/** Answers that were all withdrawn before the code was entered were not sent. */
const areUnsent = ({ transaction: { followers } }: ResultPage) =>
  followers.every(({ state, reason }) => state === 'DROPPED' && reason === 'withdrawn');
const titleOfSent = (page: ResultPage) => (areUnsent(page) ? 'rolledback.title' : 'committed.titleSent');

function committedTexts(page: ResultPage, reader: Reader): string[] {
  const { changed, receipt, layout, transaction } = page;
  const at = isSentOnly(page) ? 'committed.atSent' : 'committed.at';
  const leader = leaderOf(page);
  const hasAnswers = answersOf(page).length > 0;
  const areAlike = receipt?.consents.every(({ expirationTimestamp }) => expirationTimestamp === undefined);
  const untilKey = areAlike ? 'committed.validUntil' : 'committed.validUntilRest';
  const validUntil = layout.validityVisible && hasAnswers ? receipt?.expirationTimestamp : undefined;
  return [
    ...(isSentOnly(page) && areUnsent(page) ? [] : [reader.t(at, { date: reader.dateTime(changed) })]),
    ...(leader === null ? [] : [reader.t('committed.leader', { leader })]),
    ...(!hasAnswers && transaction.followers.length === 0 ? [reader.t('committed.none')] : []),
    ...(validUntil ? [reader.t(untilKey, { date: reader.date(validUntil) })] : []),
    ...(isAnonymousSubject(transaction.subject) ? [reader.t('committed.anonymous')] : []),
  ];
}

/** How many consents a withdrawal has ended; objections are none. */
function withdrawnCount(page: ResultPage): number {
  return answersOf(page).filter(({ texts }) => !isObjection(texts)).length;
}

function withdrawalTitle(page: ResultPage, reader: Reader): string {
  const isObjecting = areObjections(answersOf(page));
  return reader.t(isObjecting ? 'objection.title' : 'withdrawal.title', { count: withdrawnCount(page) });
}

function withdrawalTexts(page: ResultPage, reader: Reader): string[] {
  const { changed, withdrawal, keptBy = [], transaction } = page;
  const answers = answersOf(page);
  const count = withdrawnCount(page);
  const isObjecting = areObjections(answers);
  const isGivenAgain = withdrawal?.standing.some(({ withdrawn }) => withdrawn === null);
  // Peers that cannot be told are among the recipients only.
  const told = (transaction.recipients ?? []).filter(
    ({ kind, state }) => kind === 'PEER' && state !== 'UNSUPPORTED' && state !== 'FAILED',
  );
  return [
    ...(answers.length > 0
      ? [reader.t(isObjecting ? 'objection.at' : 'withdrawal.at', { count, date: reader.dateTime(changed) })]
      : []),
    ...(isGivenAgain && !isObjecting ? [reader.t('withdrawal.again')] : []),
    ...told.map(({ name: owner }) => reader.t('withdrawal.told', { owner })),
    ...(isObjecting ? [] : [reader.t('withdrawal.before')]),
    ...(answers.length > count ? [reader.t('objection.before')] : []),
    ...keptBy.map((owner) => reader.t('withdrawal.peer', { owner })),
  ];
}

/** A link, so that it works without JavaScript; http and https only (docs/security.md, "Pages"). */
function callbackLink({ transaction: { callback: url } }: ResultPage, reader: Reader) {
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
function contactOf(page: PageModel, isShown: boolean, reader: Reader) {
  if (!isShown) return { contact: null, contactLanguage: {}, contactText: null };
  const found = controllerOf(page);
  const contact = controllerView(found?.controller);
  const contactText = contact?.company
    ? reader.t('contact.ask', { company: contact.company })
    : reader.t('contact.askAnyone');
  return { contact, contactLanguage: found ? reader.in(found.lang) : {}, contactText };
}

/** The page that asks for confirmation before a child is created. */
export function childView(page: Result, reader: Reader) {
  const kind = page.transaction.state === 'COMMITTED' ? 'COMMITTED' : 'other';
  return {
    title: reader.t(`child.title.${kind}`),
    text: reader.t(`child.text.${kind}`),
    button: reader.t(`child.button.${kind}`),
    answers: answersOf(page)
      .map((answer) => answerView(answer, reader, page.withdrawal))
      .filter(({ withdrawable }) => withdrawable !== null),
    withdrawAll: withdrawAllView(page.withdrawal),
    links: { child: page.transaction.links?.child, back: page.transaction.links?.subject },
  };
}

/** Errors that the subject cannot resolve without help. */
const needsContact = new Set<ErrorPage['code']>(['expired', 'withdrawn', 'layout-conflict']);

/** Errors of a link that is wrong, or no longer works. */
const brokenLinks = new Set<ErrorPage['code']>(['unauthorized', 'not-found']);

/** The title and the remedy for the subject. The problem's detail is for clients and is not shown. */
export function errorView(page: Drawn<ErrorPage>, reader: Reader) {
  const { code, links = { child: null, transaction: null }, layout, retryAfter, isOver } = page;
  const entered = layout && links.child !== null ? enteredFields(page.entered ?? {}, layout) : [];
  const hasLink = links.child !== null || links.transaction !== null;
  const hasContact = controllerOf(page) !== null || needsContact.has(code);
  return {
    title: reader.t(isOver ? 'error.expired.title' : `error.${code}.title`),
    text: reader.t(isOver ? 'error.over.text' : `error.${code}.text`),
    kept: entered.length > 0 ? reader.t('error.expired.kept') : null,
    retry: retryAfter === undefined ? null : retryText(retryAfter, reader),
    /** People with a link that does not work are told what to do instead. */
    status: brokenLinks.has(code) ? null : String(problemStatus[code].status),
    choices: page.choices ?? null,
    links,
    entered,
    ...contactOf(page, !hasLink && hasContact, reader),
  };
}

/** When to try again, in the unit that people use for such a time. */
function retryText(seconds: number, reader: Reader): string {
  if (seconds < 120) return reader.t('error.retryAfter', { seconds });
  if (seconds < 7_200) return reader.t('error.retryAfterMinutes', { minutes: Math.ceil(seconds / 60) });
  return reader.t('error.retryAfterHours', { hours: Math.ceil(seconds / 3_600) });
}
