import type {
  AnsweredPage,
  ChildPage,
  ErrorPage,
  FinalPage,
  PageContact,
  PagePart,
} from '#lib/contracts/pages.ts';
import { safeUrl } from '../domain/safe-url.ts';
import { type AnswerView, answerView } from './answer-view.ts';
import { type ControllerView, controllerView } from './controller-view.ts';
import type { LanguageAttributes, Reader } from './reader.ts';

/** A page that says where things stand and what can be done next. */
export interface FinalView {
  title: string;
  /** What the mark beside the title says; the words say it too. */
  mark: 'done' | 'neutral' | 'warning';
  texts: string[];
  answers: AnswerView[];
  parts: PartView[];
  /** Until when the receipt's link works; null: there is no receipt. */
  keep: string | null;
  /** Some peers have not answered yet: the page looks again by itself. */
  isUnderWay: boolean;
  /** `note`: what the script says while it counts down, with `{time}` for the time that is left. */
  callback: { url: string; text: string; note: string } | null;
  /** Label of the button that makes a child. */
  childText: string;
  contact: ControllerView | null;
  contactLanguage: LanguageAttributes;
  contactText: string | null;
}

/** What a peer was answered, and what has become of it. */
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
  const asks = page.links.child === null && page.page !== 'submitted';
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
    ...contactOf(asks ? page.contact : null, asks, reader),
  };
}

/** Answers that a peer collected are in force, or not, when the peer says so; also against what became of the others. */
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

/** Shown as a link whatever happens to the script that follows it; http and https only (security.md, "Pages"). */
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

/** Whom to ask, where there is no other door. */
function contactOf(
  given: PageContact | null,
  wanted: boolean,
  reader: Reader,
): Pick<FinalView, 'contact' | 'contactLanguage' | 'contactText'> {
  const contactLanguage = given?.lang ? reader.in(given.lang) : {};
  if (!wanted) return { contact: null, contactLanguage, contactText: null };
  const contact = controllerView(given);
  const contactText = contact?.company
    ? reader.t('contact.ask', { company: contact.company })
    : reader.t('contact.askAnyone');
  return { contact, contactLanguage, contactText };
}

/** The button that makes a child is named after what it does in the parent's state. */
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

/** Ends that only somebody else can open again. */
const asksSomebody = new Set<ErrorPage['code']>(['expired', 'withdrawn', 'layout-conflict']);

/** A title and what to do, in words for the subject; never the detail of the problem, which is for clients. */
export function errorView(page: ErrorPage, reader: Reader) {
  const ownDoor = page.links.child !== null || page.links.transaction !== null;
  return {
    title: reader.t(`error.${page.code}.title`),
    text: reader.t(`error.${page.code}.text`),
    kept: page.links.child !== null && page.entered?.length ? reader.t('error.expired.kept') : null,
    retry: page.retryAfter === undefined ? null : reader.t('error.retryAfter', { seconds: page.retryAfter }),
    ...contactOf(page.contact, !ownDoor && (page.contact !== null || asksSomebody.has(page.code)), reader),
  };
}
