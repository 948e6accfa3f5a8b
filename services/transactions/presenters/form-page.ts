import { isNotice } from '#lib/contracts/element-rules.ts';
import type { FormElement, FormInformation, FormLabels, FormPeer } from '#lib/contracts/form-content.ts';
import type { DescribedElement, FormDescription, FormOutline, PinnedLayout } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { AnsweredPage, FormPage, PageAnswer, PageFault } from '#lib/contracts/pages.ts';
import type { ConsentContext } from '../domain/context.ts';
import { type EarlierRecord, previousAnswer } from '../domain/records.ts';
import { hidesAnswered, type ReadTransaction, type Transaction } from '../domain/transaction.ts';
import { linksOf } from '../domain/transaction-token.ts';
import { askerOf, embeddingOf } from './page-parts.ts';

/** A form with the subject's earlier answers. */
export interface FilledForm {
  language: string;
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
 * @param options.child true for a child, where elements of peers need no answer.
 */
export function fillForm(
  description: FormDescription,
  valid: readonly EarlierRecord[],
  { hides, child }: { hides: (element: DescribedElement) => boolean; child: boolean },
): FilledForm {
  const ofPeer = (element: DescribedElement) =>
    ({ ...(child ? withoutDefault(element) : element), previous: null }) as FormElement;
  // Only the peer knows earlier answers to its elements; our records of an equal key are of other elements.
  const elements = description.elements.map((element) =>
    element.owner === null
      ? ({ ...element, previous: previousAnswer(element, valid) } as FormElement)
      : ofPeer(element),
  );
  const isHidden = (element: FormElement) => element.previous !== null && hides(element);
  return {
    language: description.language,
    info: { ...description.info, previous: null },
    elements: elements.filter((element) => !isHidden(element)),
    peers: description.peers.map((peer) => ({
      ...peer,
      info: peer.info && { ...peer.info, previous: null },
      elements: peer.elements.map(ofPeer),
    })),
    hidden: elements.filter(isHidden),
  };
}

function withoutDefault(element: DescribedElement): DescribedElement {
  const { content } = element;
  const unset = 'includeDefault' in content ? { ...content, includeDefault: false } : content;
  return { ...element, required: false, content: unset } as DescribedElement;
}

/** The part of a form page that depends on a rejected submission. */
export interface Retry {
  values: Record<string, string[]>;
  faults: PageFault[];
  changed: string[];
  /** See {@link FormPage.kept}. */
  kept?: boolean;
}

const noAnswers: Retry = { values: {}, faults: [], changed: [] };

interface Shown {
  form: FilledForm;
  description: FormDescription;
  token: string;
  instance: PageInstance;
  retry?: Retry;
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
    actions: { ...actions, change: `${actions.submit}&existingElementsVisible=true` },
  };
}

/** The page of the form, also if all its elements are hidden. */
export function questionsPage(
  read: ReadTransaction,
  { form, description, token, instance, retry = noAnswers }: Shown,
): FormPage & { actions: NonNullable<FormPage['actions']> } {
  const { transaction } = read;
  const { context, layout } = transaction;
  const links = linksOf(instance.baseUrl, transaction.id, token);
  return {
    ...basePage(form, description, { context, layout, instance }),
    ...retry,
    embedding: embeddingOf(read),
    actions: {
      submit: links.submit,
      cancel: context.cancellable ? links.cancel : null,
    },
    expires: transaction.expiresAt.toISOString(),
    isChild: transaction.parent !== null,
  };
}

/** A decision as pages show it; null for a preference. */
export function decisionOf(
  identifier: string,
  content: object,
  answers: readonly string[],
): PageAnswer['decision'] {
  if (identifier.startsWith('element/preference/')) return null;
  if (isNotice(identifier, content)) return 'shown';
  return answers[0] === 'accepted' ? 'accepted' : 'refused';
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

function earlierAnswer(element: FormElement): PageAnswer {
  const { content, entry, previous } = element;
  const answers = previous?.answers ?? [];
  return {
    identifier: element.identifier,
    type: entry.type,
    title: 'title' in content ? content.title : content.label,
    lang: content.lang,
    owner: element.owner,
    decision: decisionOf(element.identifier, content, answers),
    values: entry.type === 'preference' ? answers : [],
    created: previous?.created,
  };
}

/** The page of a form that cannot be submitted. */
export function previewPage({
  context,
  layout,
  description,
  valid,
  instance,
}: {
  context: ConsentContext;
  layout: PinnedLayout;
  description: FormDescription;
  valid: readonly EarlierRecord[];
  instance: PageInstance;
}): FormPage {
  const hides = () => !layout.existingElementsVisible;
  const form = fillForm(description, valid, { hides, child: false });
  return {
    ...basePage(form, description, { context, layout, instance }),
    ...noAnswers,
    embedding: null,
    actions: null,
    expires: null,
    isChild: false,
  };
}

function basePage(
  form: FilledForm,
  description: FormDescription,
  { context, layout, instance }: { context: ConsentContext; layout: PinnedLayout; instance: PageInstance },
) {
  return {
    page: 'form' as const,
    language: form.language,
    instance,
    theme: description.theme,
    info: form.info,
    elements: form.elements,
    peers: form.peers,
    layout: { ...layout, ...description.texts },
    comment: null,
    validity: context.validity,
    updatable: context.updatable,
  };
}

interface PresentedWith {
  /** The layout's texts in the form's language. */
  texts: FormDescription['texts'];
  labels: FormLabels;
  token: string;
  baseUrl: string;
}

/** The Form representation in JSON mode (docs/interface.md, "Forms"). */
export function presentForm(
  read: ReadTransaction,
  form: FilledForm,
  { texts, labels, token, baseUrl }: PresentedWith,
) {
  const { transaction } = read;
  const { layout } = transaction;
  const links = linksOf(baseUrl, transaction.id, token);
  return {
    token,
    language: form.language,
    orientation: layout.orientation,
    info: form.info,
    elements: form.elements,
    peers: form.peers.map(({ info, ...peer }) => ({ ...peer, ...(info && { info }) })),
    layout: presentLayout(transaction, texts),
    labels,
    links: {
      submit: links.submit,
      transaction: links.transaction,
      ...(transaction.context.cancellable ? { cancel: links.cancel } : {}),
    },
    ...(layout.blocs ? { blocs: presentBlocs(form.elements) } : {}),
  };
}

/** The layout with its texts in the form's language. */
function presentLayout(transaction: Transaction, texts: FormDescription['texts']) {
  const { id: _id, texts: _texts, blocs: _blocs, ...options } = transaction.layout;
  const existingElementsVisible = !hidesAnswered(transaction);
  return { type: 'layout' as const, ...options, existingElementsVisible, ...texts };
}

/** For clients that read `blocs` (docs/interface.md). */
function presentBlocs(elements: readonly FormElement[]) {
  return elements.map(({ identifier, serial, entry }) => ({
    parent: { identifier, serial, element: { entry: { key: entry.key } } },
  }));
}
