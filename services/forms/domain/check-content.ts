import { setImmediate as others } from 'node:timers/promises';
import type { Fault } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { escapePointer } from '#lib/json/check-json.ts';
import type { Field } from './content/fields.ts';
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

const readers: Record<ModelType, Field<Record<string, unknown>>> = {
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
  const before = faults.length;
  const read = readers[type](content, at, faults);
  if (!read && faults.length === before)
    faults.push({ pointer: at, code: 'required', detail: 'is required' });
  return read;
}

const maxLanguages = 50;

function pointerTo(language: string): string {
  return `/data/${escapePointer(language).slice(0, 500)}`;
}

/** A version's content as clients send it. */
export interface GivenContent {
  defaultLanguage: string;
  data: Record<string, unknown>;
}

/**
 * Checks the content of a version in all its languages: each must be complete and valid, and all must ask the
 * same (docs/interface.md, "Models").
 * @returns the sanitised content; to be stored only if there are no faults.
 */
export async function checkContent(
  type: ModelType,
  given: GivenContent,
): Promise<{ data: VersionData; faults: Fault[] }> {
  const faults: Fault[] = [];
  const languages = Object.keys(given.data);
  checkLanguages(languages, given.defaultLanguage, faults);
  const data: VersionData = Object.create(null);
  for (const language of languages.slice(0, maxLanguages)) {
    const at = pointerTo(language);
    const read = readContent(type, given.data[language], at, faults);
    if (read) data[language] = read;
    // Sanitising is slow: let other requests run in between.
    await others();
  }
  if (faults.length === 0) checkSameInAllLanguages(type, given.defaultLanguage, data, faults);
  return { data, faults };
}

function checkLanguages(languages: string[], defaultLanguage: string, faults: Fault[]): void {
  if (languages.length === 0)
    faults.push({ pointer: '/data', code: 'required', detail: 'must have at least one language' });
  if (languages.length > maxLanguages)
    faults.push({
      pointer: '/data',
      code: 'too-many',
      detail: `must have at most ${maxLanguages} languages`,
    });
  // The rest is not checked.
  const seen = new Set<string>();
  for (const language of languages.slice(0, maxLanguages)) {
    const pointer = pointerTo(language);
    const canonical = canonicalLanguageTag(language)?.toLowerCase();
    if (canonical === undefined)
      faults.push({ pointer, code: 'invalid', detail: 'must be a BCP 47 language tag such as en or fr-CA' });
    else if (seen.has(canonical))
      faults.push({ pointer, code: 'duplicate', detail: 'is the same language as another one' });
    else seen.add(canonical);
  }
  if (!languages.includes(defaultLanguage))
    faults.push({
      pointer: '/defaultLanguage',
      code: 'invalid',
      detail: 'must be one of the languages in data',
    });
}

/**
 * Checks the members that must be equal in all languages (docs/interface.md: answers refer to options by
 * position).
 */
const sameEverywhere: Partial<Record<ModelType, Record<string, unknown>>> = {
  processing: { refusable: true },
  conditions: { refusable: true },
  preference: { valueType: undefined, optional: false, includeDefault: false },
  // A version has one style sheet for all languages.
  theme: { css: undefined },
};

function checkSameInAllLanguages(type: ModelType, main: string, data: VersionData, faults: Fault[]): void {
  const reference = data[main] ?? {};
  for (const [language, content] of Object.entries(data)) {
    if (language === main) continue;
    const fault = (field: string, detail: string) =>
      faults.push({ pointer: `/data/${language}/${field}`, code: 'differs', detail });
    for (const [field, absent] of Object.entries(sameEverywhere[type] ?? {}))
      if ((content[field] ?? absent) !== (reference[field] ?? absent))
        fault(field, `must be the same as in ${main}`);
    if (type === 'preference') checkOptions(content, reference, main, fault);
    if (type === 'layout') checkStructure(content, reference, main, fault);
  }
}

type AddFault = (field: string, detail: string) => void;

function checkOptions(
  content: Record<string, unknown>,
  reference: Record<string, unknown>,
  main: string,
  fault: AddFault,
): void {
  const options = (content.options ?? []) as string[];
  const mainOptions = (reference.options ?? []) as string[];
  if (options.length !== mainOptions.length)
    return void fault('options', `must have as many options as in ${main} (${mainOptions.length})`);
  if (content.valueType === 'FREE_TEXT') return;
  const positions = (values: unknown, among: string[]) =>
    ((values ?? []) as string[]).map((value) => among.indexOf(value)).sort();
  if (
    String(positions(content.defaultValues, options)) !==
    String(positions(reference.defaultValues, mainOptions))
  )
    fault('defaultValues', `must be the same options as in ${main}`);
}

function checkStructure(
  content: Record<string, unknown>,
  reference: Record<string, unknown>,
  main: string,
  fault: AddFault,
): void {
  const texts: readonly string[] = layoutTexts;
  for (const field of new Set([...Object.keys(content), ...Object.keys(reference)]))
    if (!texts.includes(field) && JSON.stringify(content[field]) !== JSON.stringify(reference[field]))
      fault(field, `must be the same as in ${main}: only texts differ between languages`);
}
