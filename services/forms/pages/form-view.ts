import { canAnswerAll, isWithdrawable } from '#lib/contracts/element-rules.ts';
import type { FormElement, FormInformation } from '#lib/contracts/form-content.ts';
import { rememberByIdentity } from '#lib/memo/remember.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { EnteredAnswers } from '../domain/entered-answers.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { changeView } from './change-view.ts';
import { answerView, controllerView } from './facts.ts';
import { languageLinks } from './language-links.ts';
import type { FormModel } from './page-model.ts';
import { type QuestionView, questionView } from './question-view.ts';
import type { RichBlocks } from './rich-blocks.ts';
import { validityTexts } from './validity-texts.ts';

type Content = FormInformation['content'];

/** Whether the page says that everything is answered, because all elements are hidden. */
export function isAnswered({ form, hidden }: FormModel): boolean {
  return form.links !== undefined && form.elements.length === 0 && hidden.length > 0;
}

const nothingEntered: EnteredAnswers = { values: {}, faults: [], changed: [] };

export function formView(page: FormModel, reader: Reader, rich: RichBlocks) {
  const { form, hidden, listsHidden, entered = nothingEntered } = page;
  const { info, elements, peers, layout, links } = form;
  const ids = new Map(elements.map((element, index) => [element.identifier, `q${index + 1}`]));
  const validities = validityTexts(page, reader);
  const view = (element: FormElement) =>
    questionView(
      element,
      ids.get(element.identifier) ?? 'q',
      { page, entered, validity: validities.differing.get(element.identifier) ?? null },
      reader,
      rich,
    );
  const questions = elements.filter(({ owner }) => owner === null).map(view);
  const owners = peers.map(({ name, asOf, ...peer }) => {
    // By identifier: two organisations may have the same name.
    const owned = new Set(peer.elements.map(({ identifier }) => identifier));
    const ownedQuestions = elements.filter(({ identifier }) => owned.has(identifier)).map(view);
    return {
      owner: name,
      /** When the copy was last confirmed, if it is old. */
      asOf: asOf ? reader.dateTime(asOf) : null,
      info: informationView(peer.info, reader, rich, 3),
      questions: ownedQuestions,
      columns: inColumns(ownedQuestions, layout.orientation),
    };
  });
  const all = [...questions, ...owners.flatMap((owner) => owner.questions)];
  const answered = new Set(all.filter(hasAnswer).map(({ name }) => name));
  return {
    title: info?.content.title ?? reader.t('form.title'),
    /** Only where nothing was entered, because each language is another page. */
    languages: links && isUntouched(entered) ? languageLinks({ ...form, url: links.submit }, reader) : null,
    info: informationView(info, reader, rich, 2),
    infoChange: changeView(info?.change, info?.content.lang ?? reader.language, reader),
    unchanged: links &&
      listsHidden &&
      hidden.length > 0 && {
        title: reader.t('unchanged.title', { count: hidden.length }),
        answers: hiddenAnswers(page, reader),
        all: links.all,
      },
    columns: inColumns(questions, layout.orientation),
    owners,
    /** Questions whose earlier answer is selected and can be cleared. */
    earlier: all.filter(({ isEarlier }) => isEarlier).map(({ name }) => name),
    faults: faultLinks(entered, all, reader),
    changes: changesNotice(entered, reader),
    isKept: entered.kept,
    validity: validities.rest,
    rights: rightsTexts(page, reader),
    submitText: layout.submitText || reader.t(asksNothing(all) ? 'form.continue' : 'form.submit'),
    acceptAllText: layout.acceptAllText || reader.t('form.acceptAll'),
    refuseAllText: layout.refuseAllText || reader.t('form.refuseAll'),
    cancelText: layout.cancelText || reader.t('form.cancel'),
    /** Whether the form shows accept-all and refuse-all. */
    bulk:
      layout.acceptAllVisible &&
      canAnswerAll([...elements, ...peers.flatMap((peer) => peer.elements)], ({ identifier }) =>
        answered.has(identifier),
      ),
    /** Whether the page shows input that is not stored, and that is lost if the subject leaves the page. */
    entered: Object.keys(entered.values).length > 0,
    cancel: layout.cancelVisible ? (links?.cancel ?? null) : null,
    expires: page.transaction
      ? reader.t('form.expires', { date: reader.dateTime(page.transaction.expires) })
      : null,
  };
}

export type FormView = ReturnType<typeof formView>;

function isUntouched({ values, faults, changed, removed }: EnteredAnswers): boolean {
  return Object.keys(values).length + faults.length + changed.length === 0 && removed === undefined;
}

/** The page instead of a form without questions. */
export function answeredView(page: FormModel, reader: Reader) {
  return { title: reader.t('answered.title'), answers: hiddenAnswers(page, reader) };
}

/** The earlier answers to the hidden elements. */
function hiddenAnswers({ hidden }: FormModel, reader: Reader) {
  return hidden.map(({ identifier, entry, owner, content, previous }) =>
    answerView(
      {
        identifier,
        owner,
        type: entry.type,
        lang: content.lang,
        texts: { ...content },
        answer: previous?.answers ?? [],
        created: previous?.created,
      },
      reader,
    ),
  );
}

/** What has changed since the subject opened the form; null if it is not shown again for that. */
function changesNotice({ changed, removed }: EnteredAnswers, reader: Reader) {
  if (changed.length === 0 && removed === undefined) return null;
  const removedText = removed ? [reader.t('removed.text', { count: removed })] : [];
  if (changed.length > 0)
    return {
      title: reader.t('changed.title'),
      texts: [reader.t('changed.text', { count: changed.length }), ...removedText],
    };
  const reason = removed ? removedText : [reader.t('stale.information')];
  return { title: reader.t('stale.title'), texts: [...reason, reader.t('stale.text')] };
}

/** Whether the page sends an answer even if the subject enters none. Boxes may all stay empty. */
function hasAnswer({ control, options, text }: QuestionView): boolean {
  return (
    control === 'notice' || control === 'checkboxes' || text !== '' || options.some(({ checked }) => checked)
  );
}

function asksNothing(questions: readonly QuestionView[]): boolean {
  return questions.length > 0 && questions.every(({ control }) => control === 'notice');
}

/**
 * HORIZONTAL: two columns of about the same height, read one after the other. Heights are estimated in
 * lines.
 */
function inColumns(questions: QuestionView[], orientation: FormModel['form']['layout']['orientation']) {
  if (orientation === 'VERTICAL' || questions.length < 2) return [questions];
  const heights = questions.map((question) =>
    question.type === 'preference' ? 3 + question.options.length : 12,
  );
  const total = heights.reduce((sum, height) => sum + height, 0);
  let first = 0;
  let count = 0;
  // Adds questions to the first column while this brings its height nearer to half of the total.
  while (count < questions.length - 1 && (count === 0 || first + (heights[count] ?? 0) / 2 <= total / 2)) {
    first += heights[count] ?? 0;
    count += 1;
  }
  return [questions.slice(0, count), questions.slice(count)];
}

/** Content of activated versions never changes, so its view is cached, by the level of its top heading. */
const informationViews = {
  2: rememberByIdentity<Content, Reader, InformationView>(),
  3: rememberByIdentity<Content, Reader, InformationView>(),
};

function informationView(info: FormInformation | null, reader: Reader, rich: RichBlocks, topHeading: 2 | 3) {
  if (!info) return null;
  const { content } = info;
  return informationViews[topHeading](content, reader, () => contentView(content, reader, rich, topHeading));
}

type InformationView = ReturnType<typeof contentView>;

function contentView(content: Content, reader: Reader, rich: RichBlocks, topHeading: number) {
  const url = safeUrl(content.privacyPolicyUrl);
  return {
    title: content.title,
    attributes: reader.in(content.lang),
    header: rich(content.header, topHeading),
    footer: rich(content.footer, topHeading),
    controller: controllerView(content.dataControllerVisible ? content.dataController : undefined),
    scope: content.scopeVisible && content.scope,
    jurisdiction: content.jurisdictionVisible && content.jurisdiction,
    officer: content.dataProtectionOfficer,
    authority: content.supervisoryAuthority,
    shortNotice: content.shortNoticeLinkVisible && safeUrl(content.shortNoticeLink),
    privacyPolicy: url && { url, text: content.customPrivacyPolicyText },
  };
}

/** Each fault with a link to the first field of its element, in page order (WCAG 3.3.1). */
function faultLinks({ faults }: EnteredAnswers, questions: QuestionView[], reader: Reader) {
  const faulty = questions.filter(({ error }) => error !== null);
  const linked = new Set(faulty.map(({ name }) => name));
  // A fault in a hidden field has no visible field to link to.
  const isElsewhere = faults.some(({ identifier }) => !linked.has(identifier));
  return [
    ...faulty.map((question) => ({
      /** The id of the field. */
      field: fieldOf(question),
      question: question.title,
      text: question.error,
      attributes: question.attributes,
    })),
    ...(isElsewhere ? [{ field: null, text: reader.t('fault.page') }] : []),
  ];
}

function fieldOf({ id, control, options }: QuestionView): string {
  if (control === 'notice') return id;
  return control === 'select' || !options[0] ? `${id}-field` : options[0].id;
}

function rightsTexts(page: FormModel, reader: Reader) {
  const company = page.form.info?.content.dataController?.company || page.instance.name;
  // Conditions and preferences are changed, and an objection is made or taken back: none is withdrawn.
  const asksConsent = page.form.elements.some(
    ({ entry, content }) => entry.type === 'processing' && isWithdrawable({ texts: content }),
  );
  const key = `form.rights${page.updatable ? 'Change' : 'Ask'}${asksConsent ? '' : 'Answers'}`;
  return {
    change: reader.t(key, { company }),
    more: reader.t('form.rightsMore'),
  };
}
