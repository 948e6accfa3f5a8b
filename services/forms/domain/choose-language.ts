import { lookupLanguage } from '#lib/i18n/match-language.ts';

/**
 * The language of a form (docs/interface.md, "The consent context"): the first wanted one that the pages or any of the form's content has, else the
 * instance's. Content that lacks it falls back element by element.
 * @param wanted best first. @param pages languages that pages have words for.
 */
export function chooseLanguage(
  wanted: readonly string[],
  {
    pages,
    contents,
    instance,
  }: { pages: readonly string[]; contents: readonly string[][]; instance: string },
): string {
  const available = new Set(pages);
  for (const languages of contents) for (const language of languages) available.add(language);
  return lookupLanguage(wanted, [...available]) ?? instance;
}
