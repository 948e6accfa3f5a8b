import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import IntlMessageFormat from 'intl-messageformat';
import { lookupLanguage } from '#lib/i18n/match-language.ts';

const folder = new URL('../locales/', import.meta.url);
const fallback = 'en';

/** Values of a message's placeholders. */
export type MessageValues = Record<string, string | number>;

/** The messages of all pages in one language. */
export type Catalogue = ReturnType<typeof createCatalogue>;

/** Reads all catalogues in `locales/`: a file there adds a language. Messages are compiled at first use. */
export function loadCatalogues() {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const languages = files.map((file) => path.parse(file).name);
  const english = readCatalogue(fallback);
  const catalogues = new Map(
    languages.map((language) => [language, createCatalogue(language, readCatalogue(language), english)]),
  );
  return {
    languages,
    /** RFC 4647 lookup (`fr-CA` → `fr`); English if there is no match. */
    pick: (language: string) =>
      catalogues.get(lookupLanguage([language], languages) ?? fallback) as Catalogue,
  };
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

function readCatalogue(language: string): Record<string, string> {
  return JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8'));
}
