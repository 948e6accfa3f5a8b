import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type Difference, differenceOf } from '../../pages/text-diff.ts';
import { type LayoutValues, referenceNames, switchNames, textNames } from './layout-values.ts';

const referenceLabels = { info: 'designer.info', theme: 'designer.theme', notification: 'designer.mail' };

/** What differs between two layouts. @param before undefined: everything is new. */
export function compareLayouts(
  reader: ConsoleReader,
  before: LayoutValues | undefined,
  after: LayoutValues,
): Difference[] {
  const { t } = reader;
  const differences: Difference[] = [];
  const compare = (label: string, textOf: (layout: LayoutValues) => string) => {
    const difference = differenceOf(label, before ? textOf(before) : '', textOf(after));
    if (difference) differences.push(difference);
  };
  compare(t('designer.elements'), ({ elements }) => elements.join(', '));
  for (const name of referenceNames) compare(t(referenceLabels[name]), (layout) => layout[name]);
  compare(t('designer.orientation'), ({ orientation }) => reader.word('orientation', orientation));
  for (const name of switchNames)
    compare(t(`switch.${name}`), (layout) => t(layout.switches.includes(name) ? 'switch.on' : 'switch.off'));
  compare(t('designer.defaultLanguage'), ({ defaultLanguage }) => reader.languageName(defaultLanguage));
  const languages = new Set([...Object.keys(before?.texts ?? {}), ...Object.keys(after.texts)]);
  compare(t('designer.languages'), ({ texts }) => Object.keys(texts).map(reader.languageName).join(', '));
  for (const language of languages)
    for (const name of textNames)
      compare(
        `${t(`text.${name}`)} (${reader.languageName(language)})`,
        ({ texts }) => texts[language]?.[name] ?? '',
      );
  return differences;
}
