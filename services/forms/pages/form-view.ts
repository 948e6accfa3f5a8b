import { bulkAnswer } from '#lib/contracts/element-rules.ts';
import type { FormInformation } from '#lib/contracts/form-content.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import { rememberByIdentity } from '#lib/memo/remember.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { type ControllerView, controllerView } from './facts.ts';
import { type QuestionView, questionView } from './question-view.ts';
import type { LanguageAttributes, Reader } from './reader.ts';
import type { RichNode, RichText } from './rich-text-tree.ts';

/** The information of a form: who asks, and on what ground. */
export interface InformationView {
  title: string;
  attributes: LanguageAttributes;
  header: RichNode[];
  footer: RichNode[];
  controller: ControllerView | null;
  scope: string | null;
  jurisdiction: string | null;
  shortNotice: string | null;
  privacyPolicy: { url: string; text: string | null } | null;
}

/** The questions of one peer, under its name. */
export interface OwnerView {
  owner: string;
  /** When the copy was last confirmed, if that was long ago. */
  asOf: string | null;
  info: InformationView | null;
  questions: QuestionView[];
  columns: QuestionView[][];
}

/** A line of the error summary; `field` is the id of the field that it links to. */
interface FaultView {
  field: string | null;
  question: string | null;
  text: string;
  attributes: LanguageAttributes;
}

export interface FormView {
  title: string;
  info: InformationView | null;
  columns: QuestionView[][];
  owners: OwnerView[];
  faults: FaultView[];
  changedCount: number;
  commentError: string | null;
  validity: string | null;
  rights: { change: string; more: string };
  submitText: string;
  acceptAllText: string;
  cancelText: string;
  /** Whether the form shows accept-all and refuse-all. */
  bulk: boolean;
  cancel: string | null;
  /** The page shows input that is not stored: leaving the page loses it. */
  entered: boolean;
}

export function formView(page: FormPage, reader: Reader, rich: RichText): FormView {
  const ids = new Map(page.elements.map((element, index) => [element.identifier, `q${index + 1}`]));
  const view = (element: FormPage['elements'][number]) =>
    questionView(element, ids.get(element.identifier) ?? 'q', page, reader, rich);
  const questions = page.elements.filter(({ owner }) => owner === null).map(view);
  const owners = page.peers.map(({ name, info, elements, asOf }) => {
    // By identifier: two organisations may have the same name.
    const owned = new Set(elements.map(({ identifier }) => identifier));
    const questionsOf = page.elements.filter(({ identifier }) => owned.has(identifier)).map(view);
    return {
      owner: name,
      asOf: asOf ? reader.dateTime(asOf) : null,
      info: informationView(info, reader, rich, 3),
      questions: questionsOf,
      columns: inColumns(questionsOf, page.layout.orientation),
    };
  });
  const all = [...questions, ...owners.flatMap((owner) => owner.questions)];
  const { layout } = page;
  return {
    title: page.info?.content.title ?? reader.t('form.title'),
    info: informationView(page.info, reader, rich, 2),
    columns: inColumns(questions, layout.orientation),
    owners,
    faults: faultLinks(page, all, reader),
    changedCount: page.changed.length,
    commentError: hasCommentFault(page) ? reader.t('fault.too-long') : null,
    validity: validityText(page, reader),
    rights: rightsTexts(page, reader),
    submitText: layout.submitText || reader.t(asksNothing(all) ? 'form.continue' : 'form.submit'),
    acceptAllText: layout.acceptAllText || reader.t('form.acceptAll'),
    cancelText: layout.cancelText || reader.t('form.cancel'),
    bulk:
      layout.acceptAllVisible &&
      page.elements.some((element) => bulkAnswer(element, 'refuse-all') !== undefined),
    entered: Object.keys(page.values).length > 0,
    cancel: layout.cancelVisible ? (page.actions?.cancel ?? null) : null,
  };
}

function asksNothing(questions: readonly QuestionView[]): boolean {
  return questions.length > 0 && questions.every(({ control }) => control === 'notice');
}

/**
 * HORIZONTAL: two columns of about the same height, read one after the other. Heights are estimates, in
 * lines.
 */
function inColumns(
  questions: QuestionView[],
  orientation: FormPage['layout']['orientation'],
): QuestionView[][] {
  if (orientation === 'VERTICAL' || questions.length < 2) return [questions];
  const heights = questions.map((question) =>
    question.type === 'preference' ? 3 + question.options.length : 12,
  );
  const total = heights.reduce((sum, height) => sum + height, 0);
  let first = 0;
  let count = 0;
  // Adds questions to the first column as long as that brings it nearer to half of the height.
  while (count < questions.length - 1 && (count === 0 || first + (heights[count] ?? 0) / 2 <= total / 2)) {
    first += heights[count] ?? 0;
    count += 1;
  }
  return [questions.slice(0, count), questions.slice(count)];
}

/** Content of activated versions never changes, so its view is cached, by the level of its top heading. */
const informationViews = {
  2: rememberByIdentity<FormInformation['content'], Reader, InformationView>(),
  3: rememberByIdentity<FormInformation['content'], Reader, InformationView>(),
};

function informationView(
  info: FormInformation | null,
  reader: Reader,
  rich: RichText,
  topHeading: 2 | 3,
): InformationView | null {
  if (!info) return null;
  const { content } = info;
  return informationViews[topHeading](content, reader, () => contentView(content, reader, rich, topHeading));
}

function contentView(
  content: FormInformation['content'],
  reader: Reader,
  rich: RichText,
  topHeading: number,
): InformationView {
  const url = safeUrl(content.privacyPolicyUrl);
  return {
    title: content.title,
    attributes: reader.in(content.lang),
    header: rich(content.header, topHeading),
    footer: rich(content.footer, topHeading),
    controller: controllerView(content.dataControllerVisible ? content.dataController : undefined),
    scope: (content.scopeVisible && content.scope) || null,
    jurisdiction: (content.jurisdictionVisible && content.jurisdiction) || null,
    shortNotice: content.shortNoticeLinkVisible ? safeUrl(content.shortNoticeLink) : null,
    privacyPolicy: url ? { url, text: content.customPrivacyPolicyText || null } : null,
  };
}

/** Each fault with a link to the first field of its element, in page order (WCAG 3.3.1). */
function faultLinks(page: FormPage, questions: QuestionView[], reader: Reader): FaultView[] {
  const faulty = questions.filter(({ error }) => error !== null);
  const links: FaultView[] = faulty.map((question) => ({
    field: fieldOf(question),
    question: question.title,
    text: question.error ?? '',
    attributes: question.attributes,
  }));
  if (hasCommentFault(page)) {
    links.push({
      field: 'comment',
      question: reader.t('form.comment'),
      text: reader.t('fault.too-long'),
      attributes: {},
    });
  }
  const shown = new Set([...faulty.map(({ name }) => name), ...(hasCommentFault(page) ? ['comment'] : [])]);
  // A fault in a hidden field has no visible field to link to.
  if (page.faults.some(({ identifier }) => !shown.has(identifier))) {
    links.push({ field: null, question: null, text: reader.t('fault.page'), attributes: {} });
  }
  return links;
}

function fieldOf({ id, control, options }: QuestionView): string {
  if (control === 'notice') return id;
  return control === 'select' || !options[0] ? `${id}-field` : options[0].id;
}

function hasCommentFault(page: FormPage): boolean {
  return page.comment !== null && page.faults.some(({ identifier }) => identifier === 'comment');
}

function validityText(page: FormPage, reader: Reader): string | null {
  if (!page.layout.validityVisible) return null;
  if (page.elements.some(({ entry }) => entry.type === 'conditions'))
    return reader.t('form.validityConditions');
  return page.validity ? reader.t('form.validity', { duration: reader.duration(page.validity) }) : null;
}

function rightsTexts(page: FormPage, reader: Reader): FormView['rights'] {
  const company = page.info?.content.dataController?.company || page.instance.name;
  return {
    change: reader.t(page.updatable ? 'form.rightsChange' : 'form.rightsAsk', { company }),
    more: reader.t('form.rightsMore'),
  };
}
