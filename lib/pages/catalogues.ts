import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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
 * Reads all catalogues in folders of `<language>.json`: a file in the first folder adds a language. Messages
 * are compiled at first use.
 * @param folders a message of a later folder replaces the one of an earlier folder.
 */
export const loadCatalogues = rememberByUrls((...folders: [URL, ...URL[]]) => {
  const files = readdirSync(folders[0]).filter((file) => file.endsWith('.json'));
  const languages = files.map((file) => path.parse(file).name);
  const read = (language: string) => readCatalogue(folders, language);
  const english = read(fallback);
  const catalogues = new Map(
    languages.map((language) => [language, createCatalogue(language, read(language), english)]),
  );
  return {
    languages,
    /** RFC 4647 lookup (`fr-CA` → `fr`); English if there is no match. */
    pick: (language: string) =>
      catalogues.get(lookupLanguage([language], languages) ?? fallback) as Catalogue,
  };
});

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
  const catalogues = folders.map((folder) =>
    JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8')),
  );
  return Object.assign({}, ...catalogues);
}
