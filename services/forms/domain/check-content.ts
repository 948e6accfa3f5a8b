import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { escapePointer } from '#lib/json/pointer.ts';
import { addFault, type Field, type SlowField, slowRequired } from './content/fields.ts';
import { layoutTexts, readSavedLayout } from './content/layout.ts';
import {
  readConditions,
  readEmail,
  readInformation,
  readPreference,
  readProcessing,
  readTheme,
} from './content/types.ts';
import type { ModelType, VersionData } from './model.ts';

const readers: Record<ModelType, Field<Record<string, unknown>> | SlowField<Record<string, unknown>>> = {
  information: readInformation,
  processing: readProcessing,
  preference: readPreference,
  conditions: readConditions,
  layout: readSavedLayout,
  theme: readTheme,
  email: readEmail,
};

/** Reads content of one language. @param at JSON pointer of the content. */
export function readContent(type: ModelType, content: unknown, at: string, faults: Fault[]) {
  return slowRequired(readers[type])(content, at, faults);
}

const maxLanguages = 50;

function pointerTo(language: string): string {
  return `/data/${escapePointer(language)}`;
}

/** A version's content as clients send it. */
export interface GivenContent {
  defaultLanguage: string;
  data: Record<string, unknown>;
}

/**
 * Checks the content of a version in all its languages: each must be complete and valid, and all must ask the
 * same questions (docs/interface.md, "Models").
 * @param incomplete whether languages are also compared if something is missing.
 * @returns the sanitised content; to be stored only if there are no faults, or only gaps in an incomplete
 * draft.
 */
export async function checkContent(
  type: ModelType,
  given: GivenContent,
  incomplete = false,
): Promise<{ data: VersionData; faults: Fault[] }> {
  const faults: Fault[] = [];
  const languages = Object.keys(given.data);
  checkLanguages(languages, given.defaultLanguage, faults);
  const data: VersionData = Object.create(null);
  for (const language of languages.slice(0, maxLanguages)) {
    const at = pointerTo(language);
    const read = await readContent(type, given.data[language], at, faults);
    if (read) data[language] = read;
    // Other requests have their turn.
    await nextTurn();
  }
  if (faults.length === 0 || (incomplete && faults.every(isGap)))
    checkSameInAllLanguages(type, given.defaultLanguage, data, faults);
  return { data, faults };
}

/** Whether a fault is only that something is missing, or unequal between languages: drafts may have gaps. */
export function isGap({ code }: Fault): boolean {
  return code === 'required' || code === 'differs';
}

function checkLanguages(languages: string[], defaultLanguage: string, faults: Fault[]): void {
  if (languages.length === 0) addFault(faults, '/data', 'required', 'must have at least one language');
  if (languages.length > maxLanguages)
    addFault(faults, '/data', 'too-many', `must have at most ${maxLanguages} languages`);
  const seen = new Set<string>();
  for (const language of languages.slice(0, maxLanguages)) {
    const pointer = pointerTo(language);
    const canonical = canonicalLanguageTag(language)?.toLowerCase();
    if (canonical === undefined)
      addFault(faults, pointer, 'invalid', 'must be a BCP 47 language tag such as en or fr-CA');
    else if (seen.has(canonical))
      addFault(faults, pointer, 'duplicate', 'is the same language as another one');
    else seen.add(canonical);
  }
  if (!languages.includes(defaultLanguage))
    addFault(faults, '/defaultLanguage', 'invalid', 'must be one of the languages in data');
}

/** Members that define what an answer means, with the value of an absent member. */
const meaningMembers: Partial<Record<ModelType, Record<string, unknown>>> = {
  processing: { refusable: true, choice: 'CONSENT' },
  conditions: { refusable: true },
  preference: { valueType: undefined, optional: false },
};

/** Other members that must be equal in all languages. A version has one style sheet for all languages. */
const otherSameMembers: Partial<Record<ModelType, Record<string, unknown>>> = {
  processing: { validity: undefined },
  preference: { includeDefault: false, validity: undefined },
  theme: { css: undefined },
};

type Content = VersionData[string];

/** The members that have different values in two contents. */
function differences(members: Record<string, unknown>, one: Content, other: Content): string[] {
  const isDifferent = (name: string) => (one[name] ?? members[name]) !== (other[name] ?? members[name]);
  return Object.keys(members).filter(isDifferent);
}

/** Answers refer to options by position (docs/interface.md), so options must match in all languages. */
function checkSameInAllLanguages(type: ModelType, main: string, data: VersionData, faults: Fault[]): void {
  const reference = data[main] ?? {};
  const members = { ...meaningMembers[type], ...otherSameMembers[type] };
  for (const [language, content] of Object.entries(data)) {
    if (language === main) continue;
    const fault = (field: string, detail: string) =>
      addFault(faults, `/data/${language}/${field}`, 'differs', detail);
    for (const field of differences(members, content, reference))
      fault(field, `must be the same as in ${main}`);
    if (type === 'preference') checkOptions(content, reference, main, fault);
    if (type === 'layout') checkStructure(content, reference, main, fault);
  }
}

type AddFault = (field: string, detail: string) => void;

function checkOptions(content: Content, reference: Content, main: string, fault: AddFault): void {
  const options = optionsOf(content);
  const mainOptions = optionsOf(reference);
  const positions = (values: unknown, among: string[]) =>
    String(((values ?? []) as string[]).map((value) => among.indexOf(value)).sort());
  if (options.length !== mainOptions.length)
    fault('options', `must have as many options as in ${main} (${mainOptions.length})`);
  else if (
    content.valueType !== 'FREE_TEXT' &&
    positions(content.defaultValues, options) !== positions(reference.defaultValues, mainOptions)
  )
    fault('defaultValues', `must be the same options as in ${main}`);
}

function optionsOf(content: Content): string[] {
  return (content.options ?? []) as string[];
}

function checkStructure(content: Content, reference: Content, main: string, fault: AddFault): void {
  const texts: readonly string[] = layoutTexts;
  for (const field of new Set([...Object.keys(content), ...Object.keys(reference)]))
    if (!texts.includes(field) && JSON.stringify(content[field]) !== JSON.stringify(reference[field]))
      fault(field, `must be the same as in ${main}: only texts differ between languages`);
}

const needsMajor = 'only a MAJOR version may change it, because a MINOR keeps earlier answers valid';

/**
 * Checks whether content may be activated as a MINOR: it may reword, add languages and append options.
 * Options keep their positions, because answers refer to them by position (docs/interface.md).
 * @param former the content activated last.
 */
export function checkMinor(type: ModelType, former: VersionData, next: VersionData): Fault[] {
  const faults: Fault[] = [];
  const reference = Object.values(former)[0] ?? {};
  for (const [language, content] of Object.entries(next)) {
    const at = `/data/${language}`;
    for (const field of differences(meaningMembers[type] ?? {}, content, reference))
      addFault(faults, `${at}/${field}`, 'needs-major', needsMajor);
    if (type !== 'preference') continue;
    const before = (Object.hasOwn(former, language) && former[language]) || reference;
    checkKeptOptions(optionsOf(content), optionsOf(before), `${at}/options`, faults);
  }
  return faults;
}

function checkKeptOptions(next: string[], former: string[], at: string, faults: Fault[]): void {
  if (next.length < former.length) addFault(faults, at, 'needs-major', `options were removed: ${needsMajor}`);
  else
    next.forEach((option, index) => {
      const before = former.indexOf(option);
      if (before < 0 || before === index) return;
      addFault(faults, `${at}/${index}`, 'needs-major', `the option was moved: ${needsMajor}`);
    });
}
