import { bulkAnswer, isNotice } from '#lib/contracts/element-rules.ts';
import type {
  AnswerCheck,
  CheckedAnswer,
  DescribedElement,
  DescribedInformation,
} from '#lib/contracts/forms.ts';
import type { FormAction } from '#lib/contracts/pages.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { checkAnswer, isBlank } from './check-answer.ts';
import { addFault } from './content/fields.ts';
import type { ContentVersion } from './content-version.ts';
import { formatIdentifier, type Identifier } from './identifiers.ts';
import { type GivenAnswer, type GivenAnswers, pointerTo } from './read-answers.ts';

/** An ACTIVE version and the current name of its entry. */
export interface ActiveItem {
  version: ContentVersion;
  name: string;
  /** The peer's name; absent for our own. */
  owner?: string;
}

/** The result of checking, before the peers' parts are separated. */
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
    };

/** The form that answers are checked against. */
export interface AnswerableForm {
  /** Keys of the layout's elements in order, withdrawn ones included; peers' with `@<host>`. */
  keys: readonly string[];
  info: ActiveItem;
  /** ACTIVE elements by key, own and peers'. */
  elements: ReadonlyMap<string, ActiveItem>;
  /** Other serials in the answers, by identifier: null if they are too old or withdrawn. */
  others: ReadonlyMap<string, ContentVersion | null>;
  /** Elements that are not asked, because they have a valid answer. */
  hidden: ReadonlySet<string>;
  /** Elements that count as asked only if they are answered. */
  free?: ReadonlySet<string>;
  language: string;
  /** Whether the answers come from an HTML form. */
  form: boolean;
}

interface Sorted {
  info: ContentVersion;
  answered: Map<string, { given: GivenAnswer; version: ContentVersion }>;
  shown: Map<string, ContentVersion>;
  stale: string[];
  faults: Fault[];
}

/**
 * Checks an answers map against a form (openapi.yaml, submitAnswers). Stale serials are reported before the
 * faults that they cause.
 */
export function checkAnswers(given: GivenAnswers, form: AnswerableForm): Checked {
  const sorted = sortAnswers(given, form);
  const { stale, faults } = sorted;
  if (stale.length > 0) return { outcome: 'stale', stale };
  const answers: CheckedAnswer[] = [];
  const asked: DescribedElement[] = [];
  const unanswered: DescribedElement[] = [];
  for (const { key, item, version, values, name } of questionsOf(given.action, sorted, form)) {
    const isFree = form.free?.has(key) ?? false;
    const result = checkAnswer(version, isFree ? { ...item, required: false } : item, values);
    if ('answer' in result || !isFree) asked.push(item);
    if ('answer' in result) answers.push(result.answer);
    else if ('fault' in result) addFault(faults, pointerTo(name), result.fault, result.detail);
    else if (!isFree && wasShown(key, sorted, form)) unanswered.push(item);
  }
  if (faults.length > 0) return { outcome: 'invalid', faults };
  const info = sorted.info.describe(form.language, form.info.name) as DescribedInformation;
  return { outcome: 'valid', language: form.language, info, answers, asked, unanswered };
}

/** An asked element. */
interface Question {
  key: string;
  version: ContentVersion;
  item: DescribedElement;
  /** undefined: not answered. */
  values: readonly unknown[] | undefined;
  /** Its name in the answers map. */
  name: string;
}

function questionsOf(action: FormAction, sorted: Sorted, form: AnswerableForm): Question[] {
  const questions = form.keys.flatMap((key) => {
    const active = form.elements.get(key);
    if (!active) return [];
    const answer = sorted.answered.get(key);
    const version = answer?.version ?? sorted.shown.get(key) ?? active.version;
    const item = version.describe(form.language, active.name, active.owner) as DescribedElement;
    const values = valuesOf(key, item, action, sorted, form);
    const isNeeded = values !== undefined || !form.hidden.has(key) || isShownNotice(key, item, sorted);
    return isNeeded ? [{ key, version, item, values, name: answer?.given.name ?? item.identifier }] : [];
  });
  const isAnswered = ({ values }: Question) => values?.some((value) => !isBlank(value)) ?? false;
  const answeredHosts = new Set(questions.filter(isAnswered).map(({ key }) => hostOf(key)));
  // For a peer with earlier answers, notices are sent only together with a new answer.
  return questions.filter(
    ({ key, item, values }) =>
      values !== undefined ||
      !form.free?.has(key) ||
      !isNotice(item.identifier, item.content) ||
      answeredHosts.has(hostOf(key)),
  );
}

function isShownNotice(key: string, { identifier, content }: DescribedElement, { shown }: Sorted): boolean {
  return shown.has(key) && isNotice(identifier, content);
}

function hostOf(key: string): string {
  return key.split('@')[1] ?? '';
}

/** Whether the page showed an element. Without the hidden fields, all elements that are not hidden count. */
function wasShown(key: string, { shown, answered }: Sorted, { hidden }: AnswerableForm): boolean {
  return shown.has(key) || answered.has(key) || (shown.size === 0 && !hidden.has(key));
}

/** The values that count for an element; undefined if it is not answered. */
function valuesOf(
  key: string,
  item: DescribedElement,
  action: FormAction,
  sorted: Sorted,
  form: AnswerableForm,
): readonly unknown[] | undefined {
  const isShown = wasShown(key, sorted, form);
  const forAll = isShown ? bulkAnswer(item, action) : undefined;
  if (forAll !== undefined) return [forAll];
  const answer = sorted.answered.get(key);
  if (answer) return answer.given.values;
  // Browsers send nothing for a group of unticked boxes.
  return form.form && item.multiple && isShown && !form.free?.has(key) ? [] : undefined;
}

/** Finds the version that each answer refers to. */
function sortAnswers(given: GivenAnswers, form: AnswerableForm): Sorted {
  const sorted: Sorted = {
    info: form.info.version,
    answered: new Map(),
    shown: new Map(),
    stale: [],
    faults: [...given.faults],
  };
  sortInformation(given.info, form, sorted);
  for (const answer of given.elements) {
    const version = findVersion(answer, form);
    if (version === 'stale') sorted.stale.push(answer.identifier);
    else if (version === 'unknown')
      addFault(sorted.faults, pointerTo(answer.name), 'unknown-element', 'is no element of this form');
    else if (sorted.answered.has(answer.key))
      addFault(sorted.faults, pointerTo(answer.name), 'too-many', 'answers an element a second time');
    else sorted.answered.set(answer.key, { given: answer, version });
  }
  for (const identifier of given.shown) {
    const version = findVersion(identifier, form);
    if (version === 'stale') sorted.stale.push(textOf(identifier));
    else if (version !== 'unknown') sorted.shown.set(identifier.key, version);
  }
  sorted.stale = [...new Set([...sorted.stale, ...unseenNotices(sorted, form)])];
  return sorted;
}

/**
 * Finds notices that were added after the page was rendered: only elements that the subject saw are recorded.
 */
function unseenNotices(sorted: Sorted, { keys, elements, hidden, free }: AnswerableForm): string[] {
  if (sorted.shown.size === 0) return [];
  return keys.flatMap((key) => {
    const version = elements.get(key)?.version;
    if (!version || hidden.has(key) || free?.has(key)) return [];
    if (sorted.shown.has(key) || sorted.answered.has(key)) return [];
    const content = version.data[version.defaultLanguage] ?? {};
    return isNotice(version.identifier, content) ? [version.identifier] : [];
  });
}

function sortInformation(given: Identifier | undefined, form: AnswerableForm, sorted: Sorted): void {
  const { version } = form.info;
  if (!given) {
    const isReported = sorted.faults.some(({ pointer }) => pointer === '/info');
    if (form.form && !isReported)
      addFault(sorted.faults, '/info', 'required', 'must name the information that was shown');
    return;
  }
  const identifier = textOf(given);
  const other = form.others.get(identifier);
  if (identifier === version.identifier) return;
  if (given.type !== 'information' || given.key !== version.key || other === undefined)
    addFault(sorted.faults, '/info', 'unknown-element', 'is not the information of this form');
  else if (other === null) sorted.stale.push(identifier);
  else sorted.info = other;
}

function findVersion(
  identifier: Identifier,
  { keys, elements, others }: AnswerableForm,
): ContentVersion | 'stale' | 'unknown' {
  if (!keys.includes(identifier.key)) return 'unknown';
  const active = elements.get(identifier.key);
  const text = textOf(identifier);
  if (text === active?.version.identifier) return active.version;
  const other = others.get(text);
  return other === null ? 'stale' : (other ?? 'unknown');
}

function textOf({ type, key, serial }: Identifier): string {
  return formatIdentifier(type, key, serial);
}
