/**
 * Longest language tag that is read (RFC 5646 §4.4.1). Canonicalising a tag takes quadratic time: 5 s for 150,000 characters.
 */
const maxLength = 35;

/** The canonical form of a language tag (BCP 47), such as `fr-CA`; undefined for a text that is none. */
export function canonicalLanguageTag(tag: string): string | undefined {
  if (tag.length > maxLength) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** The script that a language is usually written in; undefined for a text that is no language tag. */
export function scriptOfLanguage(tag: string): string | undefined {
  if (tag.length > maxLength) return undefined;
  try {
    return new Intl.Locale(tag).maximize().script ?? 'Zzzz';
  } catch {
    return undefined;
  }
}
