import { scriptOfLanguage } from '#lib/i18n/language-tag.ts';

const rightToLeftScripts = new Set([
  'Adlm',
  'Arab',
  'Hebr',
  'Mand',
  'Mend',
  'Nkoo',
  'Rohg',
  'Samr',
  'Syrc',
  'Thaa',
  'Yezi',
]);
const scripts = new Map<string, string | null>();

/** The direction of a language's usual script: `ar` → rtl, `az-Arab` → rtl, `en` → ltr. A tag that is none is ltr. */
export function textDirection(language: string): 'ltr' | 'rtl' {
  return rightToLeftScripts.has(scriptOf(language) ?? '') ? 'rtl' : 'ltr';
}

/** Whether a text is a well-formed language tag, fit for a `lang` attribute. */
export function isLanguageTag(language: string): boolean {
  return scriptOf(language) !== null;
}

/** null: not a language tag. A page asks of the same few tags again and again. */
function scriptOf(language: string): string | null {
  const known = scripts.get(language);
  if (known !== undefined) return known;
  const script = scriptOfLanguage(language) ?? null;
  if (scripts.size < 500) scripts.set(language, script);
  return script;
}
