import { type Fault, fail } from '#lib/errors/fail.ts';
import type { GivenContent } from './check-content.ts';
import type { ModelType, VersionData } from './model.ts';

/** What a template is called, and what it is for; by language. */
export type TemplateTexts = Readonly<Record<string, { name: string; description: string }>>;

/** The content of an element that many organisations need, in the languages that pages have. */
export interface ElementTemplate {
  key: string;
  type: ModelType;
  texts: TemplateTexts;
  data: VersionData;
}

/** A form and its elements, in order. */
export interface FormTemplate {
  key: string;
  texts: TemplateTexts;
  elements: readonly ElementTemplate[];
}

/** What an information says of the organisation, the same in all languages. */
export interface Organisation {
  company: string;
  address?: string;
  email?: string;
  phoneNumber?: string;
  dataProtectionOfficer?: string;
  supervisoryAuthority?: string;
  privacyPolicyUrl?: string;
}

/** The content that an information has of its organisation. */
export function contentOfOrganisation(organisation: Organisation): Record<string, unknown> {
  const { dataProtectionOfficer, supervisoryAuthority, privacyPolicyUrl, ...dataController } = organisation;
  return { dataController, dataProtectionOfficer, supervisoryAuthority, privacyPolicyUrl };
}

/**
 * The content of a template in some of its languages, the first of which is the main one.
 * @param more members to add in each language.
 */
export function contentOfTemplate(
  { data }: Pick<ElementTemplate, 'data'>,
  languages: readonly string[],
  more: Record<string, unknown> = {},
): GivenContent {
  const contents = languages.map((language) => [language, { ...data[language], ...more }] as const);
  return { defaultLanguage: languages[0] ?? '', data: Object.fromEntries(contents) };
}

/**
 * Name and description of an entry that is made of a template, in its main language.
 * @param name empty: that of the template.
 */
export function entryOfTemplate(texts: TemplateTexts, [main = '']: readonly string[], name = '') {
  const text = texts[main];
  return { name: name.trim() || text?.name, description: text?.description };
}

/** @throws Failure `invalid` without a language, for one that the template lacks, or that is named twice. */
export function checkLanguages(texts: TemplateTexts, languages: readonly string[]): void {
  const errors = languages.flatMap((language, index): Fault[] => {
    const pointer = `/languages/${index}`;
    if (!Object.hasOwn(texts, language))
      return [{ pointer, code: 'invalid', detail: `must be one of ${Object.keys(texts).join(', ')}` }];
    if (languages.indexOf(language) < index)
      return [{ pointer, code: 'duplicate', detail: 'is there already' }];
    return [];
  });
  if (languages.length === 0)
    errors.push({ pointer: '/languages', code: 'required', detail: 'must have at least one language' });
  if (errors.length > 0) throw fail('invalid', 'The template cannot be used.', { errors });
}
