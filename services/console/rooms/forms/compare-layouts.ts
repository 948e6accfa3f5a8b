import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type Change, differenceOf } from '../../pages/text-diff.ts';
import { contextNames, type Layout, referenceNames, switchNames, textNames } from './layout-values.ts';

const referenceLabels = { info: 'designer.info', theme: 'designer.theme', notification: 'designer.mail' };

/** Keys of all that a layout names. */
export function referencesIn({ elements, one }: Layout): string[] {
  return [...new Set([...elements, ...referenceNames.map(one)])].filter(Boolean);
}

/**
 * What differs between two layouts.
 * @param layouts.before undefined: everything is new.
 * @param layouts.nameOf the name of an element by its key.
 */
export function compareLayouts(
  reader: ConsoleReader,
  { before, after, nameOf }: { before: Layout | undefined; after: Layout; nameOf(key: string): string },
): Change[] {
  const { t } = reader;
  const differences: Change[] = [];
  const compare = (label: string, textOf: (layout: Layout) => string) => {
    const difference = differenceOf(label, before ? textOf(before) : '', textOf(after));
    if (difference) differences.push(difference);
  };
  compare(t('designer.elements'), ({ elements }) => elements.map(nameOf).join('\n'));
  for (const name of referenceNames) compare(t(referenceLabels[name]), ({ one }) => nameOf(one(name)));
  compare(t('designer.orientation'), ({ values }) =>
    reader.word('orientation', values.orientation?.[0] ?? ''),
  );
  for (const name of switchNames)
    compare(`${t('designer.switches')}: ${t(`switch.${name}`)}`, ({ values }) =>
      t(values.switches?.includes(name) ? 'switch.on' : 'switch.off'),
    );
  for (const name of contextNames)
    compare(t(`context.${name}`), ({ one }) => contextText(reader, name, one(name)));
  compare(t('designer.defaultLanguage'), ({ defaultLanguage }) => reader.languageName(defaultLanguage));
  compare(t('designer.languages'), ({ languages }) => reader.languageNames(languages));
  for (const language of new Set([...(before?.languages ?? []), ...after.languages]))
    for (const name of textNames)
      compare(`${t(`text.${name}`)} (${reader.languageName(language)})`, ({ one }) =>
        one(`${name}-${language}`),
      );
  return differences;
}

function contextText(reader: ConsoleReader, name: (typeof contextNames)[number], value: string): string {
  if (value === '') return '';
  if (name === 'ask') return reader.t('context.askChanged');
  if (name === 'confirmation') return reader.word('confirmation', value);
  return name === 'callback' ? value : reader.duration(value);
}
