import type { PageBase } from '#lib/contracts/page-base.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { rememberByText } from '#lib/memo/remember.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';

/** The language of a page, and links to the page in the others. */
interface LanguageLinks {
  current: string;
  others: { tag: string; name: string; url: string; attributes: LanguageAttributes }[];
}

/** The languages of a page, each by its own name; null if there is no other one. */
export function languageLinks(
  { languages, url, language }: { languages: string[]; url: string; language: string },
  reader: Reader,
): LanguageLinks | null {
  const shown = lookupLanguage([language], languages);
  const others = languages.filter((tag) => tag !== shown);
  if (others.length === 0) return null;
  return {
    current: ownName(language),
    others: others
      .map((tag) => ({
        tag,
        name: ownName(tag),
        url: inLanguage(url, tag),
        attributes: reader.in(tag),
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en')),
  };
}

/** {@link languageLinks} of a page that is not a form. */
export function offeredLanguages(
  { offered }: Pick<PageBase, 'offered'>,
  reader: Reader,
): LanguageLinks | null {
  return offered ? languageLinks({ ...offered, language: reader.language }, reader) : null;
}

/** The name of a language in that language, as a heading writes it: `Français`. */
const ownName = rememberByText((tag: string): string => {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  const [first = ''] = name;
  return first.toLocaleUpperCase(tag) + name.slice(first.length);
});

function inLanguage(url: string, language: string): string {
  const [address = '', query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('language', language);
  return `${address}?${parameters}`;
}
