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
const known = new Map<string, 'ltr' | 'rtl'>();

/** The direction of a language's usual script: `ar` → rtl, `az-Arab` → rtl, `en` → ltr. A tag that is none is ltr. */
export function textDirection(language: string): 'ltr' | 'rtl' {
  const found = known.get(language);
  if (found) return found;
  const direction = rightToLeftScripts.has(scriptOf(language) ?? '') ? 'rtl' : 'ltr';
  if (known.size < 500) known.set(language, direction);
  return direction;
}

/** Whether a text is a well-formed language tag, fit for a `lang` attribute. */
export function isLanguageTag(language: string): boolean {
  return scriptOf(language) !== null;
}

/** null: not a language tag. */
function scriptOf(language: string): string | undefined | null {
  try {
    return new Intl.Locale(language).maximize().script;
  } catch {
    return null;
  }
}
