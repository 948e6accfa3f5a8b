import type { FormAction, FormFields } from '#lib/contracts/form-content.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { escapePointer } from '#lib/json/pointer.ts';
import { readAnswerText } from './check-answer.ts';
import { addFault } from './content/fields.ts';
import { type Identifier, parseIdentifier, withoutBlocPrefix } from './identifiers.ts';

/** The maximum number of entries in an answers map (docs/interface.md, "Limits"). */
const maxAnswers = 200;

const fields: FormFields = {
  info: 'info',
  comment: 'comment',
  action: 'accord-action',
  shown: 'accord-shown',
  earlier: 'accord-earlier',
};

/** One entry of an answers map that names an element. */
export interface GivenAnswer extends Identifier {
  /** The name as it was sent, for pointers. */
  name: string;
  identifier: string;
  values: readonly unknown[];
}

/** An answers map, read but not yet compared with the form. */
export interface GivenAnswers {
  elements: GivenAnswer[];
  /**
   * Identifiers of the elements and of the peers' informations that the page showed; undefined if unknown.
   */
  shown: Identifier[] | undefined;
  /** Identifiers of the questions whose earlier answer the page had selected. */
  earlier: Identifier[];
  info: Identifier | undefined;
  action: FormAction;
  faults: Fault[];
  /** Whether the map has too many entries; none is read then. */
  isTooLong: boolean;
}

/** RFC 6901 pointer to an entry of the map. */
export function pointerTo(name: string): string {
  return `/${escapePointer(name.toWellFormed())}`;
}

function addFaultAt({ faults }: GivenAnswers, name: string, code: string, detail: string): void {
  addFault(faults, pointerTo(name), code, detail);
}

/**
 * Reads an answers map.
 * @param form whether an HTML form sent it, with the button that was pressed and the elements shown.
 */
export function readAnswers(answers: Record<string, string[]>, form: boolean): GivenAnswers {
  const given: GivenAnswers = {
    elements: [],
    shown: undefined,
    earlier: [],
    info: undefined,
    action: 'submit',
    faults: [],
    isTooLong: false,
  };
  const names = Object.keys(answers);
  const formOnly = form ? [fields.action, fields.shown, fields.earlier] : [];
  if (names.filter((name) => !(formOnly as string[]).includes(name)).length > maxAnswers) {
    addFault(given.faults, '', 'too-many', `must have at most ${maxAnswers} answers`);
    return { ...given, isTooLong: true };
  }
  for (const name of names) {
    const values: unknown = answers[name];
    if (!Array.isArray(values)) addFaultAt(given, name, 'invalid-text', 'must be a list of texts');
    else readEntry(name, values, form, given);
  }
  return given;
}

function readEntry(name: string, values: unknown[], form: boolean, given: GivenAnswers): void {
  if (name === fields.info) readInfo(values, given);
  else if (name === fields.comment) readComment(values, given);
  else if (form && name === fields.action) given.action = actionOf(values.at(-1));
  else if (form && name === fields.shown)
    given.shown = values.flatMap((value) => parseIdentifier(String(value)) ?? []);
  else if (form && name === fields.earlier)
    given.earlier = values.flatMap((value) => parseIdentifier(String(value)) ?? []);
  else {
    const identifier = withoutBlocPrefix(name);
    const parts = parseIdentifier(identifier);
    if (parts) given.elements.push({ ...parts, name, identifier, values });
    else addFaultAt(given, name, 'unknown-element', 'is not an element of this form');
  }
}

function readInfo(values: unknown[], given: GivenAnswers): void {
  const [value] = values;
  const info = typeof value === 'string' ? parseIdentifier(withoutBlocPrefix(value)) : undefined;
  if (info && values.length === 1) given.info = info;
  else
    addFaultAt(
      given,
      fields.info,
      'invalid',
      'must be a list of one text, the identifier of the information',
    );
}

function readComment(values: unknown[], given: GivenAnswers): void {
  const [value = ''] = values;
  const fault = (code: string, detail: string) => addFaultAt(given, fields.comment, code, detail);
  if (values.length > 1) fault('too-many', 'must be one text');
  else if (typeof value !== 'string' || !isStorable(value))
    fault('invalid-text', 'must be a text without NUL and lone surrogates');
  else if (readAnswerText(value) === undefined) fault('too-long', 'must have at most 4,000 characters');
}

function actionOf(value: unknown): FormAction {
  return value === 'accept-all' || value === 'refuse-all' ? value : 'submit';
}
