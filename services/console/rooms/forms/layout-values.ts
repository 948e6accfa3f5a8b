import type { Content } from '../../models/editor.ts';
import { type PostedForm, readerOf } from '../../pages/form.ts';
import type { Edited, MergeRules } from '../../pages/merge.ts';

/** Texts of a layout, which differ between its languages: the inputs are called `<name>-<language>`. */
export const textNames = ['submitText', 'acceptAllText', 'refuseAllText', 'cancelText'] as const;

/** Switches of a layout, with the value of an absent one (openapi.yaml, `LayoutData`). */
const switches = {
  existingElementsVisible: true,
  validityVisible: true,
  acceptAllVisible: false,
  cancelVisible: false,
  footerOnTop: false,
  includeIFrameResizer: true,
} as const;

export const switchNames = Object.keys(switches) as (keyof typeof switches)[];

/** What a layout gives the contexts of its transactions; empty: nothing. */
export const contextNames = ['validity', 'timeout', 'confirmation', 'ask', 'callback'] as const;

/** Members that name an entry; empty: none, or the default information. */
export const referenceNames = ['info', 'theme', 'notification'] as const;

type Members = Record<string, unknown>;

/** A layout by the inputs of the designer. All languages have the same structure. */
export interface Layout extends Edited {
  /** In their order. */
  elements: readonly string[];
  defaultLanguage: string;
  /** The value of an input with one value. */
  one(name: string): string;
}

/** A layout as it was typed, or as an editor holds it. */
export function layoutIn({ languages, values }: Edited): Layout {
  // A form without a language is not one of ours, and is read as one without texts.
  const tags = languages.length > 0 ? languages : ['en'];
  const one = readerOf(values);
  const texts = tags.flatMap((tag) => textNames.map((name) => `${name}-${tag}`));
  const defaultLanguage = one('defaultLanguage') || (tags[0] ?? 'en');
  const elements = values.elements ?? [];
  const names = [...referenceNames, ...contextNames, ...texts];
  return {
    languages: tags,
    elements,
    defaultLanguage,
    one,
    values: {
      ...Object.fromEntries(names.map((name) => [name, [one(name)]])),
      elements,
      orientation: [one('orientation') || 'VERTICAL'],
      switches: switchNames.filter((name) => values.switches?.includes(name)),
      defaultLanguage: [defaultLanguage],
    },
  };
}

/** The layout of the form that was sent. */
export function postedLayout(form: PostedForm): Layout {
  return layoutIn({ languages: form.languages ?? [], values: form });
}

/** The layout of the content of a version. */
export function layoutOf({ data, defaultLanguage }: { data: object; defaultLanguage: string }): Layout {
  const contents = Object.entries(data) as [language: string, content: Members][];
  const main = contents.find(([language]) => language === defaultLanguage)?.[1] ?? {};
  const texts = contents.flatMap(([language, content]) =>
    textNames.map((name) => [`${name}-${language}`, [String(content[name] ?? '')]] as const),
  );
  const given = (main.context ?? {}) as Members;
  const named = [
    ...[...referenceNames, 'orientation'].map((name) => [name, [String(main[name] ?? '')]] as const),
    ...contextNames.map((name) => [name, [String(given[name] ?? '')]] as const),
  ];
  return layoutIn({
    languages: contents.map(([language]) => language),
    values: {
      ...Object.fromEntries([...named, ...texts]),
      elements: (main.elements ?? []) as string[],
      switches: switchNames.filter((name) => main[name] ?? switches[name]),
      defaultLanguage: [defaultLanguage],
    },
  });
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
export function contentOf(
  { elements, values, one, defaultLanguage }: Layout,
  language = defaultLanguage,
): Members {
  const references = referenceNames.map((name) => [name, one(name)] as const);
  const texts = textNames.map((name) => [name, one(`${name}-${language}`)] as const);
  const given = contextNames.map((name) => [name, one(name)] as const).filter(([, value]) => value !== '');
  return {
    type: 'layout',
    elements,
    orientation: values.orientation?.[0],
    ...Object.fromEntries(switchNames.map((name) => [name, values.switches?.includes(name)])),
    ...Object.fromEntries([...references, ...texts].filter(([, value]) => value !== '')),
    ...(given.length > 0 && { context: Object.fromEntries(given) }),
  };
}

const edited = new Set<string>(
  ['type', 'elements', 'orientation', 'context'].concat(switchNames, referenceNames, textNames),
);

/** The content of a version. Members of the stored content that the designer does not know stay. */
export function versionBody(layout: Layout, stored: Content): Content {
  const kept = (language: string) =>
    Object.fromEntries(Object.entries(stored.data[language] ?? {}).filter(([name]) => !edited.has(name)));
  const data = layout.languages.map(
    (language) => [language, { ...kept(language), ...contentOf(layout, language) }] as const,
  );
  return { defaultLanguage: layout.defaultLanguage, data: Object.fromEntries(data) };
}
