import { type Catalogues, loadCatalogues, localesOf } from '#lib/pages/catalogues.ts';

/** The messages of pages, receipts, mails and text messages. */
export const localesFolder = new URL('../locales/', import.meta.url);

/** Finds the messages of all languages. @param own LOCALES_DIR, if it is set (docs/languages.md). */
export function loadWords(own?: string): Catalogues {
  return loadCatalogues(...localesOf('forms', localesFolder, own));
}
