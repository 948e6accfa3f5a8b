import { readdirSync, readFileSync } from 'node:fs';
import IntlMessageFormat from 'intl-messageformat';
import { lookupLanguage } from '#lib/i18n/match-language.ts';

const folder = new URL('../locales/', import.meta.url);
const fallback = 'en';

/** Values of a message's placeholders. */
export type MessageValues = Record<string, string | number>;

/** The messages of all pages in one language. */
export interface Catalogue {
  language: string;
  /** The message of a key, in English if this language lacks it. @throws Error if English lacks it too. */
  format(key: string, values?: MessageValues): string;
  has(key: string): boolean;
}

/** All catalogues in `locales/`: a file there adds a language. */
export interface Catalogues {
  languages: string[];
  /** RFC 4647 lookup (`fr-CA` → `fr`); English if there is no match. */
  pick(language: string): Catalogue;
}

/** Reads all catalogues. Messages are compiled at first use. */
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
  if (!english) throw new Error(`Catalogue ${fallback}.json is missing`);
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
