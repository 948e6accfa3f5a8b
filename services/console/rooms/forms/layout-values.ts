import type { Content } from '../../models/editor.ts';
import type { Version } from '../../models/read-model.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { Edited, MergeRules } from '../../pages/merge.ts';

/** Texts of a layout, which differ between its languages. */
export const textNames = ['submitText', 'acceptAllText', 'cancelText'] as const;

/** Switches of a layout, with the value of an absent one (openapi.yaml, `LayoutData`). */
export const switches = {
  existingElementsVisible: true,
  validityVisible: true,
  acceptAllVisible: false,
  cancelVisible: false,
  footerOnTop: false,
  includeIFrameResizer: true,
} as const;

export const switchNames = Object.keys(switches) as (keyof typeof switches)[];

/** Members that name an entry; empty: none, or the default information. */
export const referenceNames = ['info', 'theme', 'notification'] as const;

type Members = Record<string, unknown>;

/** A layout as the designer edits it. All languages have the same structure. */
export interface LayoutValues {
  elements: string[];
  info: string;
  theme: string;
  notification: string;
  orientation: string;
  switches: string[];
  defaultLanguage: string;
  /** Texts by language and name. */
  texts: Record<string, Record<string, string>>;
}

/** The layout of the content of a version. */
export function layoutOf({
  data,
  defaultLanguage,
}: Pick<Version, 'data' | 'defaultLanguage'> | Content): LayoutValues {
  const main = (data[defaultLanguage] ?? {}) as Members;
  const textsOf = (content: Members) =>
    Object.fromEntries(textNames.map((name) => [name, String(content[name] ?? '')]));
  return {
    elements: [...((main.elements ?? []) as string[])],
    info: String(main.info ?? ''),
    theme: String(main.theme ?? ''),
    notification: String(main.notification ?? ''),
    orientation: String(main.orientation ?? 'VERTICAL'),
    switches: switchNames.filter((name) => main[name] ?? switches[name]),
    defaultLanguage,
    texts: Object.fromEntries(
      Object.entries(data).map(([language, content]) => [language, textsOf(content as Members)]),
    ),
  };
}

/** The layout of a posted form. */
export function postedLayout(form: PostedForm): LayoutValues {
  const one = (name: string) => form[name]?.[0]?.trim() ?? '';
  // A form without a language is not one of ours, and is read as one without texts.
  const languages = form.languages ?? ['en'];
  return {
    elements: [...(form.elements ?? [])],
    info: one('info'),
    theme: one('theme'),
    notification: one('notification'),
    orientation: one('orientation') || 'VERTICAL',
    switches: switchNames.filter((name) => form.switches?.includes(name)),
    defaultLanguage: one('defaultLanguage') || (languages[0] ?? 'en'),
    texts: Object.fromEntries(
      languages.map((language) => [
        language,
        Object.fromEntries(textNames.map((name) => [name, one(`${name}-${language}`)])),
      ]),
    ),
  };
}

/** The languages and inputs of the designer for a layout; `postedLayout` reads them. */
export function editedOf({ texts, ...layout }: LayoutValues): Edited {
  const typed = Object.entries(texts).flatMap(([language, values]) =>
    textNames.map((name) => [`${name}-${language}`, [values[name] ?? '']] as const),
  );
  const members = Object.entries(layout).map(([name, value]) => [name, [value].flat()] as const);
  return { languages: Object.keys(texts), values: Object.fromEntries([...members, ...typed]) };
}

/** How two people's changes of a layout are merged: its elements in their order, its texts by language. */
export const mergeRules: MergeRules = {
  lists: ['elements'],
  sets: ['switches'],
  languageOf(name) {
    const [text = '', ...language] = name.split('-');
    return (textNames as readonly string[]).includes(text) ? language.join('-') : undefined;
  },
};

/** The content of one language, without its empty members. */
export function contentOf(layout: LayoutValues, language = layout.defaultLanguage): Members {
  const references = referenceNames.map((name) => [name, layout[name]] as const);
  const texts = textNames.map((name) => [name, layout.texts[language]?.[name] ?? ''] as const);
  return {
    type: 'layout',
    elements: layout.elements,
    orientation: layout.orientation,
    ...Object.fromEntries(switchNames.map((name) => [name, layout.switches.includes(name)])),
    ...Object.fromEntries([...references, ...texts].filter(([, value]) => value !== '')),
  };
}

const edited = new Set<string>([
  'type',
  'elements',
  'orientation',
  ...switchNames,
  ...referenceNames,
  ...textNames,
]);

/** The content of a version. Members of the stored content that the designer does not know stay. */
export function versionBody(layout: LayoutValues, stored: Content): Content {
  const kept = (language: string) =>
    Object.fromEntries(Object.entries(stored.data[language] ?? {}).filter(([name]) => !edited.has(name)));
  const data = Object.keys(layout.texts).map(
    (language) => [language, { ...kept(language), ...contentOf(layout, language) }] as const,
  );
  return { defaultLanguage: layout.defaultLanguage, data: Object.fromEntries(data) };
}
