import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import IntlMessageFormat from 'intl-messageformat';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { rememberByUrls } from '#lib/memo/remember.ts';

const fallback = 'en';

/** Values of a message's placeholders. */
export type MessageValues = Record<string, string | number>;

/** The messages of all pages in one language. */
export type Catalogue = ReturnType<typeof createCatalogue>;

/** The catalogues of all languages. */
export type Catalogues = ReturnType<typeof loadCatalogues>;

/**
 * Finds the catalogues in folders of `<language>.json`. One is read when it is first used, and its messages
 * are compiled when they are.
 * @param folders a message of a later folder replaces the one of an earlier folder.
 */
export const loadCatalogues = rememberByUrls((...folders: [URL, ...URL[]]) => {
  const languages = [...new Set(folders.flatMap(languagesIn))];
  const english = readCatalogue(folders, fallback);
  const catalogues = new Map<string, Catalogue>();
  const of = (language: string): Catalogue => {
    const known = catalogues.get(language);
    if (known) return known;
    const made = createCatalogue(language, readCatalogue(folders, language), english);
    catalogues.set(language, made);
    return made;
  };
  return {
    languages,
    /** The catalogue for the first wanted language that has one (RFC 4647: `fr-CA` → `fr`); else English. */
    pick: (...wanted: readonly string[]): Catalogue => of(lookupLanguage(wanted, languages) ?? fallback),
  };
});

/**
 * The folders with the messages of a service.
 * @param product of the product. @param own LOCALES_DIR: what an organisation says otherwise, in a folder for
 * each service (docs/languages.md).
 */
export function localesOf(service: string, product: URL, own: string | undefined): [URL, ...URL[]] {
  const folder = own && path.join(own, service);
  return folder && existsSync(folder) ? [product, pathToFileURL(`${folder}/`)] : [product];
}

/** The languages of a folder of catalogues. */
export function languagesIn(folder: URL): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => path.parse(file).name).sort();
}

function createCatalogue(language: string, own: Record<string, string>, english: Record<string, string>) {
  const compiled = new Map<string, string | IntlMessageFormat>();
  const compile = (key: string) => {
    const text = own[key] ?? english[key];
    if (text === undefined) throw new Error(`No message ${key} in the catalogues`);
    // Most messages have no placeholder and need no formatter.
    const message = text.includes('{')
      ? new IntlMessageFormat(text, own[key] === undefined ? fallback : language)
      : text;
    compiled.set(key, message);
    return message;
  };
  return {
    language,
    /** The message of a key, in English if this language lacks it. @throws Error if English lacks it too. */
    format(key: string, values?: MessageValues): string {
      const message = compiled.get(key) ?? compile(key);
      return typeof message === 'string' ? message : String(message.format(values));
    },
    has: (key: string) => Object.hasOwn(english, key),
  };
}

function readCatalogue(folders: readonly URL[], language: string): Record<string, string> {
  const own = folders.filter((folder) => languagesIn(folder).includes(language));
  const catalogues = own.map((folder) =>
    JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8')),
  );
  return Object.assign({}, ...catalogues);
}
