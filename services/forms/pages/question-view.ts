import { isAboutGpc, isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type {
  ConditionsElement,
  FormElement,
  PreferenceElement,
  ProcessingElement,
} from '#lib/contracts/form-content.ts';
import { rememberByIdentity } from '#lib/memo/remember.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { EnteredAnswers } from '../domain/entered-answers.ts';
import { changeView } from './change-view.ts';
import { type ControllerView, controllerView, type ProcessingFacts, processingFacts } from './facts.ts';
import type { FormModel } from './page-model.ts';
import type { RichBlock, RichBlocks } from './rich-blocks.ts';

/**
 * The native control of a question. `pair`: two radio buttons of the same size, side by side; `objection`: a
 * box to tick; `notice`: no control, because nothing is asked.
 */
type Control = 'pair' | 'radios' | 'checkboxes' | 'check' | 'objection' | 'select' | 'text' | 'notice';

/** The members that depend only on the element's type and content. */
interface Specifics {
  title: string;
  control: Control;
  hint: string | null;
  description: string | null;
  facts: ProcessingFacts | null;
  controller: ControllerView;
  body: RichBlock | null;
  /** `own`: whether the label is a text of the content, in its language. */
  choices: { value: string; label: string; own: boolean }[];
  defaults: string[];
}

export type QuestionView = ReturnType<typeof questionView>;

/** The page of a question, and what was entered in it before. */
interface Asking {
  page: FormModel;
  entered: EnteredAnswers;
  /** How long the answer holds, if it differs from the others of the page. */
  validity: string | null;
}

/** One element of the form. */
export function questionView(
  element: FormElement,
  id: string,
  { page, entered: { values, faults, changed }, validity }: Asking,
  reader: Reader,
  rich: RichBlocks,
) {
  const {
    choices: offered,
    defaults,
    ...view
  } = clearable(
    element,
    specifics(element.content, reader, () => specificsOf(element, reader, rich)),
    page,
    reader,
  );
  const entered = Object.hasOwn(values, element.identifier) ? values[element.identifier] : undefined;
  const isSignalled = page.gpc === true && isAboutGpc(element.content) && view.control !== 'notice';
  const objects = isSignalled && view.control === 'objection';
  const isDeselected = isSignalled && element.previous?.answers[0] === 'accepted';
  const previous = isDeselected ? undefined : element.previous?.answers;
  const chosen = entered ?? (objects ? ['refused'] : previous) ?? defaults;
  const attributes = reader.in(element.content.lang);
  const error = faultText(element, view.control, faults, reader);
  const isPreset = !entered && !element.previous && defaults.length > 0;
  const suggested = isPreset ? reader.t('preference.suggested', { company: askerOf(element, page) }) : null;
  const isListed = view.control === 'select' || view.control === 'text';
  const note =
    view.control === 'notice'
      ? null
      : (noteText(element, { isEntered: entered !== undefined, isDeselected }, page, reader) ??
        (isListed ? suggested : null));
  const described = [
    error && 'error',
    note && 'note',
    view.hint && 'hint',
    isSignalled && 'signal',
    validity && 'validity',
  ]
    .filter(Boolean)
    .map((part) => `${id}-${part}`);
  return {
    ...view,
    id,
    /** The name of the element's fields. */
    name: element.identifier,
    type: element.entry.type,
    attributes,
    optional: isOptional(element, view.control),
    changed: changed.includes(element.identifier),
    change: changeView(element.change, element.content.lang, reader),
    error,
    /** The origin of a preset answer, or the statement that the peer has the earlier answer. */
    note,
    validity,
    /** What Global Privacy Control means for the question. */
    signal: isSignalled ? reader.t(objects ? 'question.gpcObjection' : 'question.gpc') : null,
    options: offered.map(({ value, label, own }, index) => ({
      id: `${id}-${index + 1}`,
      value,
      label,
      attributes: own ? attributes : {},
      checked: value === '' ? chosen.every((each) => each === '') : chosen.includes(value),
      /** Names the organisation that preselected the option. */
      suggested: value !== '' && chosen.includes(value) ? suggested : null,
    })),
    /** The first option of a list. */
    empty: reader.t(element.required ? 'preference.choose' : 'answer.none'),
    /** Whether the earlier answer is selected, so that leaving the question out clears it. */
    isEarlier: !element.required && !element.multiple && element.owner === null && previous !== undefined,
    /** The text of a text control. */
    text: chosen[0] ?? '',
    required: element.required && view.control !== 'checkboxes',
    describedBy: described.length > 0 ? described.join(' ') : null,
  };
}

/** A question with radio buttons that need not be answered has one more button, which clears it. */
function clearable(
  { required, owner }: FormElement,
  view: Specifics,
  { peersOptional }: FormModel,
  reader: Reader,
): Specifics {
  if (required || (view.control !== 'pair' && view.control !== 'radios')) return view;
  // Only the peer knows its earlier answer, which stays.
  const label = reader.t(owner !== null && peersOptional ? 'answer.unchanged' : 'answer.none');
  return { ...view, control: 'radios', choices: [...view.choices, { value: '', label, own: false }] };
}

/** States when an earlier answer was given. Only the peer knows the earlier answers to its elements. */
function noteText(
  element: FormElement,
  { isEntered, isDeselected }: { isEntered: boolean; isDeselected: boolean },
  page: FormModel,
  reader: Reader,
): string | null {
  const { owner, previous } = element;
  if (owner !== null && page.peersOptional) return reader.t('previous.ofPeer', { owner });
  if (isEntered || !previous) return null;
  const note = reader.t(isDeselected ? 'previous.accepted' : 'previous.note', {
    date: reader.date(previous.created),
  });
  const { importedFrom: source } = previous;
  return source === undefined ? note : `${note} (${reader.t('method.IMPORTED')}: ${source})`;
}

/** The organisation that asks a question: the data controller of its owner's information, else the owner. */
function askerOf({ owner, identifier }: FormElement, { form, instance }: FormModel): string {
  const peer = form.peers.find(({ elements }) =>
    elements.some((element) => element.identifier === identifier),
  );
  const info = owner === null ? form.info : peer?.info;
  return info?.content.dataController?.company || (owner ?? instance.name);
}

/** Whether the title is marked as optional: never for checkboxes, which may all stay empty, or notices. */
function isOptional({ content, required }: FormElement, control: Control): boolean {
  return (
    control !== 'checkboxes' &&
    control !== 'notice' &&
    control !== 'objection' &&
    (!required || ('optional' in content && content.optional === true))
  );
}

/** Content of activated versions never changes, so its view is cached. */
const specifics = rememberByIdentity<FormElement['content'], Reader, Specifics>();

function specificsOf(element: FormElement, reader: Reader, rich: RichBlocks): Specifics {
  const { type } = element.entry;
  if (type === 'processing') return processingSpecifics(element as ProcessingElement, reader);
  if (type === 'conditions') return conditionsSpecifics(element as ConditionsElement, reader, rich);
  return preferenceSpecifics(element as PreferenceElement, reader);
}

/** Members that most types do not have. */
const absent = {
  hint: null,
  description: null,
  facts: null,
  controller: null,
  body: null,
  defaults: [],
};

function processingSpecifics({ identifier, content }: ProcessingElement, reader: Reader): Specifics {
  const notice = isNotice(identifier, content);
  const shown = {
    ...absent,
    title: content.title,
    description: content.usage,
    facts: processingFacts(content, reader),
    controller: controllerView(content.dataControllerVisible !== false ? content.dataController : undefined),
  };
  if (notice) return { ...shown, control: 'notice', hint: noticeText(content, reader), choices: [] };
  if (isObjection(content)) {
    const choices = [{ value: 'refused', label: reader.t('objection.object'), own: false }];
    return { ...shown, control: 'objection', hint: reader.t('objection.hint'), choices };
  }
  const choices = choicesOf(true, reader.t('processing.accept'), reader.t('processing.refuse'));
  return { ...shown, control: 'pair', choices };
}

/** Explains with the legal bases why a notice offers no choice. The legal basis consent has no message. */
function noticeText({ legalBases = [] }: ProcessingElement['content'], reader: Reader): string {
  const reasons = legalBases.map((basis) => `notice.${basis}`).filter(reader.has);
  if (reasons.length === 0) return reader.t('notice.withoutBasis');
  return reader.t('notice.text', { reasons: reader.list(reasons.map((key) => reader.t(key))) });
}

function conditionsSpecifics({ content }: ConditionsElement, reader: Reader, rich: RichBlocks): Specifics {
  const refusable = content.refusable !== false;
  const choices = choicesOf(
    refusable,
    content.acceptLabel || reader.t('conditions.accept'),
    content.rejectLabel || reader.t('conditions.refuse'),
  );
  return {
    ...absent,
    title: content.title,
    body: rich(content.body),
    control: refusable ? 'pair' : 'check',
    choices: choices.map((choice, index) => ({
      ...choice,
      own: Boolean([content.acceptLabel, content.rejectLabel][index]),
    })),
  };
}

/** Accept, then refuse if the element is refusable. None is preselected. */
function choicesOf(refusable: boolean, accept: string, refuse: string) {
  const accepted = { value: 'accepted', label: accept, own: false };
  return refusable ? [accepted, { value: 'refused', label: refuse, own: false }] : [accepted];
}

const preferenceControls: Record<string, Control> = {
  TOGGLE: 'pair',
  RADIO_BUTTONS: 'radios',
  CHECKBOXES: 'checkboxes',
  LIST_SINGLE: 'select',
  // In a native multiple list a second option needs a modifier key, which many people do not know.
  LIST_MULTI: 'checkboxes',
  FREE_TEXT: 'text',
};

function preferenceSpecifics({ content }: PreferenceElement, reader: Reader): Specifics {
  const control = preferenceControls[content.valueType] ?? 'radios';
  const hints: Partial<Record<Control, string>> = {
    checkboxes: reader.t('preference.several'),
    text: reader.t('preference.textHint'),
  };
  return {
    ...absent,
    title: content.label,
    description: content.description || null,
    control,
    hint: hints[control] ?? null,
    choices: (content.options ?? []).map((option) => ({ value: option, label: option, own: true })),
    // Only preferences have preset answers (docs/interface.md, "Forms").
    defaults: content.includeDefault ? (content.defaultValues ?? []) : [],
  };
}

/** Codes of faults whose message, `fault.<code>`, is the same for every control. */
export const faultCodes: readonly string[] = [
  'not-refusable',
  'too-long',
  'too-long-together',
  'too-many',
  'not-an-option',
  'invalid-text',
];

function faultText(
  element: FormElement,
  control: Control,
  faults: EnteredAnswers['faults'],
  reader: Reader,
): string | null {
  const fault = faults.find(({ identifier }) => identifier === element.identifier);
  if (!fault) return null;
  if (faultCodes.includes(fault.code)) return reader.t(`fault.${fault.code}`);
  if (fault.code !== 'required') return reader.t('fault.other');
  if (control === 'text') return reader.t('fault.requiredText');
  return reader.t(control === 'check' ? 'fault.requiredAccept' : 'fault.required');
}
