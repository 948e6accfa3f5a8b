import { type Layout, layoutIn, textNames } from './layout-values.ts';

/**
 * A form speaks the languages of its own elements; without any, those of its information. The main language
 * stays, and so does one in which a button has a text.
 * @param elements that the form names.
 */
export function inLanguagesOf(
  layout: Layout,
  elements: readonly { languages?: readonly string[] | undefined }[],
  information: readonly string[] = [],
): Layout {
  const hasText = (language: string) => textNames.some((name) => layout.one(`${name}-${language}`) !== '');
  const kept = layout.languages.filter((each) => each === layout.defaultLanguage || hasText(each));
  const asked = elements.flatMap(({ languages = [] }) => languages);
  const spoken = asked.length > 0 ? asked : information;
  return layoutIn({ ...layout, languages: [...new Set([...kept, ...spoken])] });
}
