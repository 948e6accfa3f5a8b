import { bulkAnswer, isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { FormAction } from '#lib/contracts/form-content.ts';
import type {
  AnswerCheck,
  CheckedAnswer,
  DescribedElement,
  DescribedInformation,
} from '#lib/contracts/forms.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { checkAnswer, isBlankAnswer, isTold, noAnswer } from './check-answer.ts';
import { addFault } from './content/fields.ts';
import type { ContentVersion } from './content-version.ts';
import { formatIdentifier, type Identifier } from './identifiers.ts';
import { type GivenAnswer, type GivenAnswers, pointerTo } from './read-answers.ts';

/** The ACTIVE version (when a part is checked, the version that the subject saw) and its entry's name. */
export interface ActiveItem {
  version: ContentVersion;
  name: string;
  /** The peer's name; absent for our own. */
  owner?: string;
}

/** The result of checking, before the answers to peers' elements are separated into parts. */
export type Checked =
  | Exclude<AnswerCheck, { outcome: 'valid' }>
  | {
      outcome: 'valid';
      language: string;
      info: DescribedInformation;
      /** Answers to own and peers' elements. */
      answers: CheckedAnswer[];
      /** The asked elements, in the versions that the subject saw. */
      asked: DescribedElement[];
      /** Optional elements that were shown and not answered. */
      unanswered: DescribedElement[];
      /** By host of the peer: the information that the page showed above the peer's elements. */
      peerInfos: ReadonlyMap<string, ContentVersion>;
    };

/** The form that answers are checked against. */
export interface AnswerableForm {
  /** Keys of the layout's elements in order, withdrawn ones included; peers' with `@<host>`. */
  keys: readonly string[];
  info: ActiveItem;
  /** Elements by key, own and peers'. */
  elements: ReadonlyMap<string, ActiveItem>;
  /** The ACTIVE information of each peer with elements in the form, by host. */
  peerInfos?: ReadonlyMap<string, ActiveItem>;
  /** Versions that answers name and that are not ACTIVE, by identifier; null if too old or withdrawn. */
  former: ReadonlyMap<string, ContentVersion | null>;
  /** Keys of elements that are not asked, because they have a valid answer. */
  hidden: ReadonlySet<string>;
  /** Keys of elements that count as asked only if they are answered: those of peers that need no answer. */
  askedIfAnswered?: ReadonlySet<string>;
  language: string;
  /** Whether the answers come from an HTML form. */
  isFormPost: boolean;
  /** Whether the page showed no earlier answers of the person. */
  isSilent?: boolean;
  /** Whether an empty answer to an own question says that the person left the question blank, as on paper. */
  takesBlanks?: boolean;
}

interface Matched {
  info: ContentVersion;
  answered: Map<string, { given: GivenAnswer; version: ContentVersion }>;
  shown: Map<string, ContentVersion>;
  /** Keys of the questions whose earlier answer the page had selected. */
  earlier: ReadonlySet<string>;
  /** Whether the answers state what the page showed. */
  isShownStated: boolean;
  peerInfos: Map<string, ContentVersion>;
  stale: string[];
  faults: Fault[];
}

/**
 * Checks an answers map against a form (openapi.yaml, submitAnswers). If any answer is stale, only the stale
 * ones are reported: faults in the other answers follow when the subject answers the changed form.
 */
export function checkAnswers(given: GivenAnswers, form: AnswerableForm): Checked {
  const matched = matchAnswers(given, form);
  const { stale, faults } = matched;
  if (stale.length > 0) return { outcome: 'stale', stale };
  const answers: CheckedAnswer[] = [];
  const asked: DescribedElement[] = [];
  const unanswered: DescribedElement[] = [];
  for (const { key, item, version, values, name } of questionsOf(given.action, matched, form)) {
    const onlyIfAnswered = form.askedIfAnswered?.has(key) ?? false;
    const isNeeded = !onlyIfAnswered && !(form.takesBlanks && isLeftBlank(item, values));
    const result = checkAnswer(version, isNeeded ? item : { ...item, required: false }, values);
    const wasAsked = !onlyIfAnswered && wasShown(key, matched, form);
    if ('answer' in result || wasAsked) asked.push(item);
    if ('answer' in result) answers.push(result.answer);
    else if ('none' in result && isCleared(item, values, matched.earlier))
      answers.push(noAnswer(version, item));
    else if ('fault' in result) addFault(faults, pointerTo(name), result.fault, result.detail);
    else if (wasAsked) unanswered.push(item);
  }
  if (faults.length > 0) return { outcome: 'invalid', faults };
  const info = matched.info.describe(form.language, form.info.name) as DescribedInformation;
  const { peerInfos } = matched;
  return { outcome: 'valid', language: form.language, info, answers, asked, unanswered, peerInfos };
}

function isLeftBlank({ owner }: DescribedElement, values: readonly unknown[] | undefined): boolean {
  return owner === null && values !== undefined && values.every(isBlankAnswer);
}

/** Whether the person has cleared an own question on a page that had its earlier answer selected. */
function isCleared(
  { entry, owner }: DescribedElement,
  values: readonly unknown[] | undefined,
  earlier: ReadonlySet<string>,
): boolean {
  return values !== undefined && owner === null && earlier.has(entry.key);
}

/** An asked element. */
interface Question {
  key: string;
  version: ContentVersion;
  item: DescribedElement;
  /** The values that count; undefined if the element was not answered. */
  values: readonly unknown[] | undefined;
  /** The element's name in the answers map, for pointers. */
  name: string;
}

function questionsOf(action: FormAction, matched: Matched, form: AnswerableForm): Question[] {
  const questions = form.keys.flatMap((key) => {
    const active = form.elements.get(key);
    if (!active) return [];
    const answer = matched.answered.get(key);
    const version = answer?.version ?? matched.shown.get(key) ?? active.version;
    const item = version.describe(form.language, active.name, active.owner) as DescribedElement;
    const values = valuesOf(key, item, action, matched, form);
    const isNeeded = values !== undefined || !form.hidden.has(key) || isShownNotice(key, item, matched);
    return isNeeded ? [{ key, version, item, values, name: answer?.given.name ?? item.identifier }] : [];
  });
  const isAnswered = ({ values }: Question) => values?.some((value) => !isBlankAnswer(value)) ?? false;
  const answeredHosts = new Set(questions.filter(isAnswered).map(({ key }) => hostOf(key)));
  // If a peer's elements need no answer, its notices are sent only together with an answer to one of them.
  return questions.filter(
    ({ key, item, values }) =>
      values !== undefined ||
      !form.askedIfAnswered?.has(key) ||
      !isTold(item) ||
      (isNotice(item.identifier, item.content) && answeredHosts.has(hostOf(key))),
  );
}

function isShownNotice(key: string, { identifier, content }: DescribedElement, { shown }: Matched): boolean {
  return shown.has(key) && isNotice(identifier, content);
}

function hostOf(key: string): string {
  return key.split('@')[1] ?? '';
}

/** Whether the page showed an element. Without `accord-shown`, all but the hidden elements count as shown. */
function wasShown(
  key: string,
  { shown, isShownStated, answered }: Matched,
  { hidden }: AnswerableForm,
): boolean {
  return shown.has(key) || answered.has(key) || (!isShownStated && !hidden.has(key));
}

/** The values that count for an element; undefined if it is not answered. */
function valuesOf(
  key: string,
  item: DescribedElement,
  action: FormAction,
  matched: Matched,
  form: AnswerableForm,
): readonly unknown[] | undefined {
  const isShown = wasShown(key, matched, form);
  const bulk = isShown ? bulkAnswer(item, action) : undefined;
  if (bulk !== undefined) return [bulk];
  const answer = matched.answered.get(key);
  if (answer) return answer.given.values;
  // Browsers send nothing for boxes that are not ticked.
  if (!form.isFormPost || !isShown || form.askedIfAnswered?.has(key)) return undefined;
  if (item.multiple) return [];
  // An empty box takes an objection back only where the page would have shown it.
  const isSeen = matched.isShownStated && !form.isSilent && item.owner === null;
  return isObjection(item.content) && isSeen ? ['accepted'] : undefined;
}

/** Finds the version that each answer refers to. */
function matchAnswers(given: GivenAnswers, form: AnswerableForm): Matched {
  const matched: Matched = {
    info: form.info.version,
    answered: new Map(),
    shown: new Map(),
    earlier: new Set(given.earlier.map(({ key }) => key)),
    isShownStated: given.shown !== undefined,
    peerInfos: new Map(),
    stale: [],
    faults: [...given.faults],
  };
  matchInformation(given.info, form, matched);
  for (const answer of given.elements) {
    const version = findVersion(answer, form);
    if (version === 'stale') matched.stale.push(answer.identifier);
    else if (version === 'unknown')
      addFault(matched.faults, pointerTo(answer.name), 'unknown-element', 'is not an element of this form');
    else if (matched.answered.has(answer.key))
      addFault(matched.faults, pointerTo(answer.name), 'too-many', 'answers an element a second time');
    else matched.answered.set(answer.key, { given: answer, version });
  }
  for (const identifier of given.shown ?? []) {
    if (identifier.type === 'information') matchPeerInformation(identifier, form, matched);
    const version = findVersion(identifier, form);
    if (version === 'stale') matched.stale.push(textOf(identifier));
    else if (version !== 'unknown') matched.shown.set(identifier.key, version);
  }
  matched.stale = [...new Set([...matched.stale, ...unseenNotices(matched, form)])];
  return matched;
}

/**
 * Finds notices, and processings to object to, that were added after the page was rendered. They make the
 * answers stale, because only elements that the subject saw are recorded.
 */
function unseenNotices({ shown, isShownStated, answered }: Matched, form: AnswerableForm): string[] {
  if (!isShownStated) return [];
  return form.keys.flatMap((key) => {
    const version = form.elements.get(key)?.version;
    if (!version || form.hidden.has(key) || form.askedIfAnswered?.has(key)) return [];
    if (shown.has(key) || answered.has(key)) return [];
    const content = version.data[version.defaultLanguage] ?? {};
    return isTold({ identifier: version.identifier, content: content as DescribedElement['content'] })
      ? [version.identifier]
      : [];
  });
}

function matchInformation(given: Identifier | undefined, form: AnswerableForm, matched: Matched): void {
  const { version } = form.info;
  if (!given) {
    const isReported = matched.faults.some(({ pointer }) => pointer === '/info');
    if (form.isFormPost && !isReported)
      addFault(matched.faults, '/info', 'required', 'must name the information that was shown');
    return;
  }
  const identifier = textOf(given);
  const former = form.former.get(identifier);
  if (identifier === version.identifier) return;
  if (given.type !== 'information' || given.key !== version.key || former === undefined)
    addFault(matched.faults, '/info', 'unknown-element', 'is not the information of this form');
  else if (former === null) matched.stale.push(identifier);
  else matched.info = former;
}

/** A peer's information is recorded as the subject saw it. If that is too old, the form is shown again. */
function matchPeerInformation(given: Identifier, { peerInfos, former }: AnswerableForm, matched: Matched) {
  const host = hostOf(given.key);
  const active = peerInfos?.get(host)?.version;
  if (!active) return;
  const identifier = textOf(given);
  const version = identifier === active.identifier ? active : former.get(identifier);
  if (version) matched.peerInfos.set(host, version);
  else matched.stale.push(identifier);
}

function findVersion(
  identifier: Identifier,
  { keys, elements, former }: AnswerableForm,
): ContentVersion | 'stale' | 'unknown' {
  if (!keys.includes(identifier.key)) return 'unknown';
  const active = elements.get(identifier.key);
  const text = textOf(identifier);
  if (text === active?.version.identifier) return active.version;
  const other = former.get(text);
  return other === null ? 'stale' : (other ?? 'unknown');
}

function textOf({ type, key, serial }: Identifier): string {
  return formatIdentifier(type, key, serial);
}
