import { isNotice } from '#lib/contracts/element-rules.ts';
import type {
  FormChange,
  FormElement,
  FormInformation,
  FormLabels,
  FormPeer,
} from '#lib/contracts/form-content.ts';
import type { DescribedElement, FormDescription, FormOutline } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { AnsweredPage, FormPage, PageAnswer } from '#lib/contracts/pages.ts';
import { type EarlierRecord, major, previousAnswer } from '../standing/status.ts';
import type { Links } from '../transaction/links.ts';
import {
  asksChanged,
  hidesAnswered,
  peersMayStayUnanswered,
  type ReadTransaction,
  type Transaction,
} from '../transaction/transaction.ts';
import { askerOf, embeddingOf } from './page-parts.ts';

/** A form with the subject's earlier answers. */
export interface FilledForm extends Pick<FormDescription, 'revision' | 'language' | 'theme' | 'texts'> {
  info: FormInformation;
  /** Without the hidden ones. */
  elements: FormElement[];
  peers: FormPeer[];
  /** Elements with a valid answer that are not shown. */
  hidden: FormElement[];
}

/**
 * Adds earlier valid answers to the elements and hides elements.
 * @param options.hides whether an element with a valid answer is hidden.
 * @param options.peersOptional whether elements of peers need no answer.
 */
export function fillForm(
  { revision, language, theme, texts, ...description }: FormDescription,
  valid: readonly EarlierRecord[],
  { hides, peersOptional }: { hides: (element: DescribedElement) => boolean; peersOptional: boolean },
): FilledForm {
  const peerElement = (element: DescribedElement) =>
    ({ ...(peersOptional ? asOptional(element) : element), previous: null }) as FormElement;
  // Only the peer knows earlier answers to its elements; our records with the same key are of other elements.
  const elements = description.elements.map((element) =>
    element.owner === null
      ? ({ ...element, previous: previousAnswer(element, valid) } as FormElement)
      : peerElement(element),
  );
  const isHidden = (element: FormElement) => element.previous !== null && hides(element);
  return {
    revision,
    language,
    theme,
    texts,
    info: { ...description.info, previous: null },
    elements: elements.filter((element) => !isHidden(element)),
    peers: description.peers.map((peer) => ({
      ...peer,
      info: peer.info && { ...peer.info, previous: null },
      elements: peer.elements.map(peerElement),
    })),
    hidden: elements.filter(isHidden),
  };
}

/** The element without a preset answer and without the need to answer it. */
function asOptional(element: DescribedElement): DescribedElement {
  const { content } = element;
  const unset = 'includeDefault' in content ? { ...content, includeDefault: false } : content;
  return { ...element, required: false, content: unset } as DescribedElement;
}

/** The members of a form page that depend on a rejected submission. */
export type Retry = Pick<FormPage, 'values' | 'faults' | 'changed' | 'removed' | 'kept'>;

const noAnswers: Retry = { values: {}, faults: [], changed: [] };

interface Shown {
  form: FilledForm;
  links: Links;
  instance: PageInstance;
  retry?: Retry;
  /** See {@link FormPage.gpc}. */
  gpc?: boolean;
}

/** Pairs of versions of own items: what the subject answered last, and what the form shows instead. */
export function outdatedItems(
  { info, elements }: Pick<FormDescription, 'info' | 'elements'>,
  earlier: readonly EarlierRecord[],
): OutdatedItem[] {
  const newest = earlier.toSorted((a, b) => b.committedAt.getTime() - a.committedAt.getTime());
  const answered = newest.map(({ type, key, serial, committedAt }) => ({ type, key, serial, committedAt }));
  const informed = newest.map(({ infoKey: key, infoSerial: serial, committedAt }) => {
    return { type: 'information', key, serial, committedAt };
  });
  return [info, ...elements].flatMap((item): OutdatedItem[] => {
    if (item.owner !== null) return [];
    const { type, key } = item.entry;
    const last = (type === 'information' ? informed : answered).find((each) => each.key === key);
    if (!last || major(last.serial) === major(item.serial)) return [];
    const from = `element/${type}/${key}/${last.serial}`;
    return [{ from, to: item.identifier, since: last.committedAt.toISOString() }];
  });
}

interface OutdatedItem {
  from: string;
  to: string;
  /** RFC 3339 */
  since: string;
}

/** Adds to the items of a form what has changed since they were answered. */
export function withChanges(form: FilledForm, changes: ReadonlyMap<string, FormChange>): FilledForm {
  const add = <Item extends FormInformation | FormElement>(item: Item): Item => {
    const change = changes.get(item.identifier);
    return change ? { ...item, change } : item;
  };
  return { ...form, info: add(form.info), elements: form.elements.map(add) };
}

/** The page of an open transaction: its form, or "already answered" if all its elements are hidden. */
export function formPage(read: ReadTransaction, shown: Shown): FormPage | AnsweredPage {
  const { form } = shown;
  const page = questionsPage(read, shown);
  if (form.elements.length > 0) return page;
  const { language, instance, theme, embedding, actions } = page;
  const { content } = form.info;
  return {
    language,
    instance,
    theme,
    embedding,
    asker: askerOf(content, content.lang).asker,
    page: 'answered',
    info: form.info.identifier,
    answers: form.hidden.map((element) => earlierAnswer(element)),
    actions: { ...actions, change: everythingAt(actions.submit) },
  };
}

/** The URL of the form with the elements that it hides. */
function everythingAt(submit: string): string {
  return `${submit}&existingElementsVisible=true`;
}

/** The page of the form, also if all its elements are hidden. */
export function questionsPage(
  read: ReadTransaction,
  { form, links, instance, retry = noAnswers, gpc }: Shown,
): FormPage & { actions: NonNullable<FormPage['actions']> } {
  const { transaction } = read;
  const { context } = transaction;
  return {
    ...basePage(form, transaction, instance),
    ...retry,
    embedding: embeddingOf(read),
    actions: { submit: links.submit, cancel: context.cancellable ? links.cancel : null },
    expires: transaction.expiresAt.toISOString(),
    peersOptional: peersMayStayUnanswered(transaction),
    ...(asksChanged(transaction) &&
      form.hidden.length > 0 && {
        unchanged: { answers: form.hidden.map(earlierAnswer), all: everythingAt(links.submit) },
      }),
    ...(gpc && { gpc }),
  };
}

/** An answer as pages show it, without its owner. */
export function presentAnswer(
  {
    identifier,
    type,
    texts,
    lang,
    withdraws,
  }: Pick<PageAnswer, 'identifier' | 'type' | 'lang'> & { texts: object; withdraws?: { given: string } },
  answers: string[],
): Omit<PageAnswer, 'owner'> {
  const isPreference = type === 'preference';
  const accepted = isNotice(identifier, texts) ? 'shown' : 'accepted';
  const choice = withdraws ? 'withdrawn' : answers[0] === 'refused' ? 'refused' : accepted;
  return {
    identifier,
    type,
    title: titleOf(texts),
    lang,
    decision: isPreference ? null : choice,
    values: isPreference ? answers : [],
    ...(withdraws && { created: withdraws.given }),
  };
}

export function titleOf(texts: { title?: unknown; label?: unknown }): string {
  return String(texts.title ?? texts.label ?? '');
}

/** A form's page without the content that forms can add from the description. */
export function outlineOf({
  info: _info,
  peers: _peers,
  layout: _layout,
  language: _language,
  theme: _theme,
  elements,
  ...page
}: FormPage): FormOutline {
  return { ...page, elements: elements.map(({ identifier, previous }) => ({ identifier, previous })) };
}

function earlierAnswer({ identifier, entry, content, owner, previous }: FormElement): PageAnswer {
  const shown = { identifier, type: entry.type, texts: content, lang: content.lang };
  return { ...presentAnswer(shown, previous?.answers ?? []), owner, created: previous?.created };
}

/** The page of a form that cannot be submitted. */
export function previewPage(
  form: FilledForm,
  transaction: Pick<Transaction, 'context' | 'layout'>,
  instance: PageInstance,
): FormPage {
  return {
    ...basePage(form, transaction, instance),
    ...noAnswers,
    embedding: null,
    actions: null,
    expires: null,
    peersOptional: false,
  };
}

function basePage(
  form: FilledForm,
  { context, layout }: Pick<Transaction, 'context' | 'layout'>,
  instance: PageInstance,
) {
  return {
    page: 'form' as const,
    language: form.language,
    instance,
    theme: form.theme,
    info: form.info,
    elements: form.elements,
    peers: form.peers,
    layout: { ...layout, ...form.texts },
    validity: context.validity,
    updatable: context.updatable,
  };
}

/** The Form representation in JSON mode (docs/interface.md, "Forms"). */
export function presentForm(transaction: Transaction, form: FilledForm, labels: FormLabels, links: Links) {
  const { id: _id, texts: _texts, blocs, ...layout } = transaction.layout;
  const kept = asksChanged(transaction) ? form.hidden.flatMap(keptAnswer) : [];
  return {
    token: links.token,
    language: form.language,
    orientation: layout.orientation,
    info: form.info,
    elements: form.elements,
    peers: form.peers.map(({ info, ...peer }) => ({ ...peer, ...(info && { info }) })),
    layout: {
      type: 'layout' as const,
      ...layout,
      existingElementsVisible: !hidesAnswered(transaction),
      ...form.texts,
    },
    labels,
    links: {
      submit: links.submit,
      transaction: links.transaction,
      ...(transaction.context.cancellable ? { cancel: links.cancel } : {}),
      ...(kept.length > 0 && { all: everythingAt(links.submit) }),
    },
    ...(asksChanged(transaction) && { kept }),
    ...(blocs ? { blocs: presentBlocs(form.elements) } : {}),
  };
}

function keptAnswer({ content, previous }: FormElement) {
  return previous ? [{ ...previous, title: titleOf(content) }] : [];
}

/** For clients that read `blocs` (docs/interface.md). */
function presentBlocs(elements: readonly FormElement[]) {
  return elements.map(({ identifier, serial, entry }) => ({
    parent: { identifier, serial, element: { entry: { key: entry.key } } },
  }));
}
