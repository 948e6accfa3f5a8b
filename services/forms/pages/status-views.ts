import type {
  AnsweredPage,
  ChildPage,
  ErrorPage,
  FinalPage,
  PageContact,
  PagePart,
} from '#lib/contracts/pages.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { type AnswerView, answerView, type ControllerView, controllerView } from './facts.ts';
import type { LanguageAttributes, Reader } from './reader.ts';

/** The page of a transaction that takes no answers now: its state and the possible next steps. */
export interface FinalView {
  title: string;
  /** The symbol beside the title. */
  mark: 'done' | 'neutral' | 'warning';
  texts: string[];
  answers: AnswerView[];
  parts: PartView[];
  /** How long the receipt's link works; null if there is no receipt. */
  keep: string | null;
  /** Some peers have not decided yet: page.js reloads the parts. */
  isUnderWay: boolean;
  /** `note` is the text of the countdown; page.js replaces `{time}` in it. */
  callback: { url: string; text: string; note: string } | null;
  /** Label of the button that creates a child. */
  childText: string;
  contact: ControllerView | null;
  contactLanguage: LanguageAttributes;
  contactText: string | null;
}

/** The part of one peer, with its state. */
interface PartView {
  state: PagePart['state'];
  title: string;
  text: string;
  elements: { title: string; attributes: LanguageAttributes }[];
}

const marks: Partial<Record<FinalPage['page'], FinalView['mark']>> = {
  committed: 'done',
  cancelled: 'neutral',
  submitted: 'neutral',
};

export function finalView(page: FinalPage, reader: Reader): FinalView {
  const committed = page.page === 'committed';
  const showsContact = page.links.child === null && page.page !== 'submitted';
  return {
    title: reader.t(`${page.page}.title`),
    mark: marks[page.page] ?? 'warning',
    texts: committed
      ? committedTexts(page, reader)
      : [reader.t(otherText(page), { date: reader.dateTime(page.at), leader: page.leader ?? '' })],
    answers: page.answers.map((answer) => answerView(answer, reader)),
    parts: page.parts.map((part) => partView(part, reader)),
    keep: page.receiptUntil ? reader.t('committed.keep', { date: reader.date(page.receiptUntil) }) : null,
    isUnderWay:
      page.page === 'submitted' || page.parts.some(({ state }) => state === 'sending' || state === 'held'),
    callback: page.page === 'submitted' ? null : callbackLink(page, reader),
    childText: reader.t(committed ? 'committed.change' : 'final.startAgain'),
    ...contactOf(page.contact, showsContact, reader),
  };
}

/** An accepted part stays in force even if the transaction was rolled back or cancelled. */
function otherText({ page, parts, leader }: FinalPage): string {
  const isOver = page === 'rolledback' || page === 'cancelled';
  if (isOver && parts.some(({ state }) => state === 'accepted')) return 'final.textAgainst';
  if (page === 'submitted' && leader !== null) return 'submitted.textLeader';
  return page === 'rolledback' && (parts.length > 0 || leader !== null)
    ? 'rolledback.textPeers'
    : `${page}.text`;
}

function partView({ owner, state, elements }: PagePart, reader: Reader): PartView {
  return {
    state,
    title: reader.t('part.title', { owner }),
    text: reader.t(`part.${state}`, { owner }),
    elements: elements.map(({ title, lang }) => ({ title, attributes: reader.in(lang) })),
  };
}

function committedTexts(page: FinalPage, reader: Reader): string[] {
  return [
    reader.t('committed.at', { date: reader.dateTime(page.at) }),
    ...(page.leader === null ? [] : [reader.t('committed.leader', { leader: page.leader })]),
    ...(page.answers.length === 0 && page.parts.length === 0 ? [reader.t('committed.none')] : []),
    ...(page.validUntil && page.answers.length > 0
      ? [reader.t('committed.validUntil', { date: reader.date(page.validUntil) })]
      : []),
  ];
}

/** A link, so that it works without JavaScript; http and https only (docs/security.md, "Pages"). */
function callbackLink({ embedding }: FinalPage, reader: Reader): FinalView['callback'] {
  const url = embedding?.callback;
  if (!url || !safeUrl(url)?.startsWith('http')) return null;
  const { host } = new URL(url);
  return {
    url,
    text: reader.t('final.callback', { host }),
    note: reader.t('final.callbackNote', { host, time: '{time}' }),
  };
}

/** The contact, on pages that offer no other way on. */
function contactOf(
  pageContact: PageContact | null,
  isShown: boolean,
  reader: Reader,
): Pick<FinalView, 'contact' | 'contactLanguage' | 'contactText'> {
  const contactLanguage = pageContact?.lang ? reader.in(pageContact.lang) : {};
  if (!isShown) return { contact: null, contactLanguage, contactText: null };
  const contact = controllerView(pageContact);
  const contactText = contact?.company
    ? reader.t('contact.ask', { company: contact.company })
    : reader.t('contact.askAnyone');
  return { contact, contactLanguage, contactText };
}

/** The page that asks before a child is created; its words depend on the parent's state. */
export function childView(page: ChildPage, reader: Reader): { title: string; text: string; button: string } {
  const kind = page.state === 'COMMITTED' ? 'COMMITTED' : 'other';
  return {
    title: reader.t(`child.title.${kind}`),
    text: reader.t(`child.text.${kind}`),
    button: reader.t(`child.button.${kind}`),
  };
}

export function answeredView(page: AnsweredPage, reader: Reader): { title: string; answers: AnswerView[] } {
  return {
    title: reader.t('answered.title'),
    answers: page.answers.map((answer) => answerView(answer, reader)),
  };
}

/** Failures that the subject cannot resolve alone. */
const needsContact = new Set<ErrorPage['code']>(['expired', 'withdrawn', 'layout-conflict']);

/** A title and a remedy for the subject. The detail of the problem is for clients and is not shown. */
export function errorView(page: ErrorPage, reader: Reader) {
  const hasLink = page.links.child !== null || page.links.transaction !== null;
  return {
    title: reader.t(`error.${page.code}.title`),
    text: reader.t(`error.${page.code}.text`),
    kept: page.links.child !== null && page.entered?.length ? reader.t('error.expired.kept') : null,
    retry: page.retryAfter === undefined ? null : reader.t('error.retryAfter', { seconds: page.retryAfter }),
    ...contactOf(page.contact, !hasLink && (page.contact !== null || needsContact.has(page.code)), reader),
  };
}
