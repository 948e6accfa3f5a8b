import { isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { CheckedAnswer, DescribedElement } from '#lib/contracts/forms.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { isBlank, visibleText } from '#lib/text/visible-text.ts';
import { oneLine } from './content/fields.ts';
import type { ContentVersion } from './content-version.ts';

/** Longest free text, in code points (docs/interface.md). */
const maxAnswerLength = 4_000;

/** A text as answers are compared and stored: NFC, CRLF as LF, trimmed; undefined if it is too long. */
export function readAnswerText(text: string): string | undefined {
  return readBoundedText(text.replaceAll('\r\n', '\n'), maxAnswerLength);
}

/** The result of checking one element: an answer to record, nothing to record, or a fault. */
export type AnswerResult = { answer: CheckedAnswer } | { none: true } | { fault: string; detail: string };

const none: AnswerResult = { none: true };

/**
 * Checks the values given for one element (docs/interface.md, "Answers").
 * @param item the element as it is described in the language shown. @param values undefined: not answered.
 */
export function checkAnswer(
  version: ContentVersion,
  item: DescribedElement,
  values: readonly unknown[] | undefined,
): AnswerResult {
  if (isTold(item) && isLeftOut(values)) return acceptNotice(version, item);
  if (values === undefined) return item.required ? missing : none;
  const texts: string[] = [];
  for (const value of values) {
    if (typeof value !== 'string' || !isStorable(value))
      return { fault: 'invalid-text', detail: 'must be a list of texts without NUL and lone surrogates' };
    const text = readAnswerText(value);
    if (text === undefined) return { fault: 'too-long', detail: 'must have at most 4,000 characters' };
    if (text !== '') texts.push(text);
  }
  if (!item.multiple && texts.length > 1) return { fault: 'too-many', detail: 'takes one answer' };
  if (texts.length === 0 && !item.multiple) return item.required ? missing : none;
  if (item.answers === null) return answerOf(version, item, texts, null);
  return item.entry.type === 'preference'
    ? checkOptions(version, item, texts)
    : checkChoice(version, item, texts);
}

/** Whether an element is answered by being shown: a notice, or a processing that may be objected to. */
export function isTold({ identifier, content }: Pick<DescribedElement, 'identifier' | 'content'>): boolean {
  return isNotice(identifier, content) || isObjection(content);
}

/** A notice may be left out of the answers, or named without a value. */
function isLeftOut(values: readonly unknown[] | undefined): boolean {
  return values === undefined || values.every(isBlankAnswer);
}

export function isBlankAnswer(value: unknown): boolean {
  return typeof value === 'string' && isBlank(value);
}

/** Recorded as accepted without options: none were offered, or a program has left the answer out. */
function acceptNotice(version: ContentVersion, item: DescribedElement): AnswerResult {
  return answerOf(version, { ...item, answers: null }, ['accepted'], null);
}

/** The answer by which a person clears an earlier one. */
export function noAnswer(version: ContentVersion, item: DescribedElement): CheckedAnswer {
  return checkedAnswer(version, item, [], null);
}

const missing: AnswerResult = { fault: 'required', detail: 'must be answered' };

function checkChoice(version: ContentVersion, item: DescribedElement, texts: string[]): AnswerResult {
  const [choice] = texts;
  if (choice !== 'accepted' && choice !== 'refused')
    return { fault: 'not-an-option', detail: 'must be accepted or refused' };
  const position = item.answers?.indexOf(choice) ?? -1;
  if (position < 0) return { fault: 'not-refusable', detail: 'cannot be refused' };
  if (isNotice(item.identifier, item.content)) return acceptNotice(version, item);
  return answerOf(version, item, texts, [position]);
}

function checkOptions(version: ContentVersion, item: DescribedElement, texts: string[]): AnswerResult {
  const options = item.answers as string[];
  const positions: number[] = [];
  for (const text of texts.map(oneLine)) {
    // The language shown takes precedence: another language may use the text for another option.
    const position = findOption(options, text) ?? version.positionOf(text);
    if (position === undefined) return { fault: 'not-an-option', detail: 'must be one of the options' };
    if (positions.includes(position)) return { fault: 'too-many', detail: 'names an option twice' };
    positions.push(position);
  }
  positions.sort((a, b) => a - b);
  return answerOf(
    version,
    item,
    positions.map((position) => options[position] as string),
    positions,
  );
}

/**
 * The position of an option by its text; else of the only option that looks the same: programs and people
 * type a space for a non-breaking one, and no characters that nobody sees.
 */
function findOption(options: readonly string[], text: string): number | undefined {
  const exact = options.indexOf(text);
  if (exact >= 0) return exact;
  const look = visibleText(text);
  const alike = [...options.keys()].filter((position) => visibleText(options[position] as string) === look);
  return alike.length === 1 ? alike[0] : undefined;
}

function answerOf(
  version: ContentVersion,
  item: DescribedElement,
  value: string[],
  positions: number[] | null,
): AnswerResult {
  return { answer: checkedAnswer(version, item, value, positions) };
}

function checkedAnswer(
  version: ContentVersion,
  { identifier, serial, entry, content, answers }: DescribedElement,
  value: string[],
  positions: number[] | null,
): CheckedAnswer {
  const { type } = entry;
  return { identifier, type, key: version.key, serial, value, positions, options: answers, content };
}
