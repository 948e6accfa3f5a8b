/**
 * Maximum length of a language tag (RFC 5646 §4.4.1). Canonicalising takes quadratic time: 5 s for 150,000
 * characters.
 */
const maxLength = 35;

/** The canonical form of a BCP 47 language tag, such as `fr-CA`; undefined for an invalid tag. */
export function canonicalLanguageTag(tag: string): string | undefined {
  if (tag.length > maxLength) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** The usual script of a language; undefined for an invalid tag. */
export function scriptOfLanguage(tag: string): string | undefined {
  if (tag.length > maxLength) return undefined;
  try {
    return new Intl.Locale(tag).maximize().script ?? 'Zzzz';
  } catch {
    return undefined;
  }
}
