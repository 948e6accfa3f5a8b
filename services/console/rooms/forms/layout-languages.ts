import { type Layout, layoutIn, textNames } from './layout-values.ts';

/**
 * A form speaks the languages of what it names: those of its own elements and of its information. The main
 * language stays, and so does one in which a button has a text.
 * @param named what the form names.
 */
export function inLanguagesOf(
  layout: Layout,
  named: readonly { languages?: readonly string[] | undefined }[],
): Layout {
  const hasText = (language: string) => textNames.some((name) => layout.one(`${name}-${language}`) !== '');
  const kept = layout.languages.filter((each) => each === layout.defaultLanguage || hasText(each));
  const spoken = named.flatMap(({ languages = [] }) => languages);
  return layoutIn({ ...layout, languages: [...new Set([...kept, ...spoken])] });
}
