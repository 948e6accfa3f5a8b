import { isNotice } from '#lib/contracts/element-rules.ts';
import type { FormElement } from '#lib/contracts/form-content.ts';
import type { FormDescription, FormOutline, PinnedLayout } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { AnsweredPage, FormPage, PageAnswer, PageFault } from '#lib/contracts/pages.ts';
import type { ConsentContext } from '../domain/context.ts';
import type { EarlierRecord } from '../domain/records.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { linksOf } from '../domain/transaction-token.ts';
import { type FilledForm, fillForm } from './form.ts';
import { askerOf, embeddingOf } from './page-parts.ts';

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
