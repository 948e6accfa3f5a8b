import type {
  DescribedElement,
  DescribedInformation,
  FormDescription,
  LayoutTexts,
  PinnedLayout,
} from '#lib/contracts/forms.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { pageTheme } from '../domain/page-theme.ts';
import type { ReadForm } from './read-form.ts';

/** The internal operation `describeForm`. Described items are frozen and shared between requests. */
export function createDescribeForm({ readForm }: { readForm: ReadForm }) {
  return async ({
    layout,
    languages,
  }: {
    layout: PinnedLayout;
    languages: string[];
  }): Promise<FormDescription> => {
    const { language, info, elements, theme, active } = await readForm(layout, languages);
    return {
      language,
      info: info.version.describe(language, info.name) as DescribedInformation,
      elements: Array.from(
        elements.values(),
        ({ version, name }) => version.describe(language, name) as DescribedElement,
      ),
      theme: theme ? pageTheme(theme.version, language) : null,
      texts: textsIn(layout.texts, language),
      active,
    };
  };
}

/** Under `*` are the texts of the layout's default language, or those of an inline layout. */
function textsIn(texts: PinnedLayout['texts'], language: string): LayoutTexts {
  const found = lookupLanguage([language], Object.keys(texts));
  return (found === undefined ? texts['*'] : texts[found]) ?? {};
}
