import { readdirSync, readFileSync } from 'node:fs';
import { lookupLanguage } from '#lib/i18n/match-language.ts';

/** The words of the pages and mails of the issuer in one language. */
export interface Words {
  language: string;
  dir: 'ltr' | 'rtl';
  /** The message of a key, with `{name}` replaced; the key itself if there is none. */
  t(key: string, values?: Record<string, string>): string;
}

type Catalogue = Record<string, string>;

const rightToLeft = new Set(['ar', 'fa', 'he', 'ur']);

/** Loads the words of all languages. @returns those of the best wanted language; English is the last. */
export function loadWords(): (wanted: readonly string[]) => Words {
  const catalogues = readCatalogues();
  const languages = [...catalogues.keys()];
  return (wanted) => {
    const language = lookupLanguage(wanted, languages) ?? 'en';
    const words = catalogues.get(language) as Catalogue;
    const dir = rightToLeft.has(language) ? 'rtl' : 'ltr';
    // A name in Latin letters must not move the words around it (UAX #9, isolates).
    const shown = (value: string) => (dir === 'rtl' ? `\u2068${value}\u2069` : value);
    return {
      language,
      dir,
      t: (key, values = {}) =>
        Object.entries(values).reduce(
          (text, [name, value]) => text.replaceAll(`{${name}}`, () => shown(value)),
          words[key] ?? key,
        ),
    };
  };
}

function readCatalogues(): Map<string, Catalogue> {
  const folder = new URL('../locales/', import.meta.url);
  return new Map(
    readdirSync(folder).map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Catalogue,
    ]),
  );
}
