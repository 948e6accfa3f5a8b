import { type Catalogue, loadCatalogues, localesOf, type MessageValues } from '#lib/pages/catalogues.ts';
import { isolate, textDirection } from '#lib/pages/reader.ts';

/** The messages of pages and mails. */
export const localesFolder = new URL('../locales/', import.meta.url);

/** The words of the pages and mails of the issuer in one language. */
export interface Words {
  language: string;
  dir: 'ltr' | 'rtl';
  /** The message of a key, with its placeholders filled in; the key itself if there is none. */
  t(key: string, values?: MessageValues): string;
}

/** @param wanted languages, best first. @returns the words of the best one, or else English. */
export type FindWords = (wanted: readonly string[]) => Words;

/**
 * Finds the words of all languages.
 * @param own LOCALES_DIR, if it is set (docs/languages.md).
 */
export function loadWords(own: string | undefined): FindWords {
  const catalogues = loadCatalogues(...localesOf('auth', localesFolder, own));
  return (wanted) => wordsOf(catalogues.pick(...wanted));
}

function wordsOf(catalogue: Catalogue): Words {
  const { language } = catalogue;
  const dir = textDirection(language);
  return {
    language,
    dir,
    t(key, values = {}) {
      if (!catalogue.has(key)) return key;
      // A name in Latin letters must not move the words around it (UAX #9, isolates).
      return catalogue.format(key, dir === 'rtl' ? isolate(values) : values);
    },
  };
}
