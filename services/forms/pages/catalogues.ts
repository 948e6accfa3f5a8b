import { readdirSync, readFileSync } from 'node:fs';
import IntlMessageFormat from 'intl-messageformat';
import { lookupLanguage } from '#lib/i18n/match-language.ts';

const folder = new URL('../locales/', import.meta.url);
const fallback = 'en';

/** Values of a message's placeholders. */
export type MessageValues = Record<string, string | number>;

/** The words of all pages in one language. */
export interface Catalogue {
  language: string;
  /** The message of a key. @throws Error on a key that no catalogue has: a fault in a template, found by the tests. */
  format(key: string, values?: MessageValues): string;
  has(key: string): boolean;
}

/** All catalogues in `locales/`: another language is one more file there. */
export interface Catalogues {
  languages: string[];
  /** RFC 4647 lookup (`fr-CA` → `fr`), else English. */
  pick(language: string): Catalogue;
}

/** Reads every catalogue once, at start; a message is compiled when it is first used. */
export function loadCatalogues(): Catalogues {
  const texts = new Map(
    readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => [file.slice(0, -'.json'.length), readCatalogue(file)]),
  );
  const base = texts.get(fallback) ?? {};
  const languages = [...texts.keys()];
  const catalogues = new Map(
    languages.map((language) => [language, createCatalogue(language, texts.get(language) ?? {}, base)]),
  );
  const english = catalogues.get(fallback);
  if (!english) throw new Error(`The catalogue ${fallback}.json is missing`);
  return {
    languages,
    pick: (language) => catalogues.get(lookupLanguage([language], languages) ?? fallback) ?? english,
  };
}

function createCatalogue(
  language: string,
  own: Record<string, string>,
  base: Record<string, string>,
): Catalogue {
  const compiled = new Map<string, string | IntlMessageFormat>();
  const compile = (key: string) => {
    const text = own[key] ?? base[key];
    if (text === undefined) throw new Error(`There is no message ${key}`);
    // A message without placeholders needs no formatter: most of them.
    const message = text.includes('{')
      ? new IntlMessageFormat(text, own[key] === undefined ? fallback : language)
      : text;
    compiled.set(key, message);
    return message;
  };
  return {
    language,
    format(key, values) {
      const message = compiled.get(key) ?? compile(key);
      return typeof message === 'string' ? message : String(message.format(values));
    },
    has: (key) => Object.hasOwn(base, key),
  };
}

function readCatalogue(file: string): Record<string, string> {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
}
