import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { DraftEdit } from '../../models/editor.ts';
import { orientationsOf, previewLooks } from '../../models/preview.ts';
import { entryChoices, type FoundForm, newestVersion } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { type Choice, type FieldSpec, fieldsFor, languageChoices, wordChoices } from '../../pages/form.ts';
import { fieldReader } from '../../pages/form-page.ts';
import { mergedView } from '../../pages/merge-form.ts';
import { type RowFocus, rowButtons } from '../../pages/rows.ts';
import type { RoomTools } from '../../pages/tools.ts';
import type { Changed } from './designer-ops.ts';
import { readChoices, readNamed, searchElements } from './elements.ts';
import { findFaults } from './layout-faults.ts';
import { inLanguagesOf } from './layout-languages.ts';
import { contextNames, type Layout, layoutIn, mergeRules, switchNames, textNames } from './layout-values.ts';

/** What the designer shows. */
export interface Designed extends DraftEdit, Pick<Changed, 'focus'> {}

/** Reads what the designer needs, and makes its values to print. */
export async function designerView(
  ctx: Context,
  tools: RoomTools,
  { entry, href }: FoundForm,
  shown: Designed,
) {
  const reader = tools.reader(ctx);
  const { t } = reader;
  const { failure, focus, draft, etag } = shown;
  const given = layoutIn(shown);
  const shownVersion = draft || newestVersion(entry)?.id;
  const focusedRow = focus && 'row' in focus ? focus : undefined;
  const word = fieldReader(ctx, tools)('word');
  const offered = shown.conflicts.find(({ name }) => name === 'elements')?.theirs ?? [];
  const [known, found, information, themes, mails, faults] = await Promise.all([
    readNamed(ctx, tools, [...new Set([...given.elements, ...offered])]),
    searchElements(ctx, tools, { word, without: given.elements }),
    readChoices(ctx, tools, 'information'),
    readChoices(ctx, tools, 'theme'),
    readChoices(ctx, tools, 'email'),
    findFaults(ctx, tools, { id: entry.id, vid: shownVersion }, given),
  ]);
  const byDefault = information.find((each) => each.default);
  const info = information.find(({ key }) => key === given.one('info')) ?? byDefault;
  const layout = inLanguagesOf(given, known, info?.availableLanguages);
  const { languages } = layout;
  const named = layout.elements.flatMap((each) => known.find(({ reference }) => reference === each) ?? []);
  const form = tools.form(ctx, {
    action: `${href}/edit`,
    submit: t('designer.save'),
    cancelUrl: href,
    fields: designerFields(reader, layout, {
      elements: known.map(({ reference, name }) => [reference, name] as const),
      information: entryChoices(information),
      themes: entryChoices(themes),
      mails: entryChoices(mails),
      byDefault: byDefault?.name,
    }),
    values: layout.values,
    failure: failure ?? shown.checked,
    hidden: { draft, etag, base: JSON.stringify(shown.base) },
  });
  const fieldsOf = (names: readonly string[]) => names.map((name) => form.byName[name]);
  return {
    title: t('designer.title', { name: entry.name }),
    mayActivate: tools.may(ctx, 'setVersionStatus'),
    form,
    merge: mergedView(reader, form, { ...shown, languageOf: mergeRules.languageOf }),
    guard: shown.isChanged ? 'changed' : 'on',
    isLive: entry.versions.length > 0,
    warnings: form.faults.length > 0 ? [] : faultTexts(reader, faults, layout),
    rows: named.map((element, row) => {
      const { name } = element;
      const count = named.length;
      const words = { name, place: row + 1, count };
      return {
        ...element,
        ...rowButtons(reader, name, { row, count, focus: focusedRow }),
        place: count > 2 && { value: `place:${row}`, label: t('designer.placeNamed', words) },
      };
    }),
    found: found.values.map((each) => ({ ...each, act: t('designer.addNamed', { name: each.name }) })),
    more: found.more > 0 && t('designer.more', { count: found.more }),
    word,
    told:
      focusedRow && movedText(reader, named[focusedRow.row]?.name, { ...focusedRow, count: named.length }),
    focused: focus && 'field' in focus ? `field-${focus.field}` : '',
    looks: fieldsOf(['info', 'theme', 'notification', 'orientation', 'switches']),
    context: fieldsOf(contextNames),
    languages: languages.map((language) => ({
      language,
      name: reader.languageName(language),
      fields: fieldsOf(textNames.map((name) => `${name}-${language}`)),
      preview: t('designer.previewIn', { language: reader.languageName(language) }),
    })),
    frameUrl:
      shownVersion &&
      withQuery(`${href}/versions/${shownVersion}/page`, {
        language: lookupLanguage([reader.language], languages) ?? languages[0],
      }),
    framed: previewLooks(ctx, tools, { typed: shown.values }),
    previewUrl: `${href}/edit/preview`,
  };
}

type Options = readonly Choice[];

/** What the designer offers; nothing where the fields only name the places of faults. */
interface Offered {
  elements: Options;
  information: Options;
  themes: Options;
  mails: Options;
  /** The name of the default information. */
  byDefault?: string | undefined;
}

/** The fields of the designer. */
export function designerFields(
  reader: ConsoleReader,
  { languages, one }: Layout,
  { elements, information, themes, mails, byDefault }: Offered = {
    elements: [],
    information: [],
    themes: [],
    mails: [],
  },
): FieldSpec[] {
  const { t } = reader;
  return [
    { name: 'elements', label: t('designer.elements'), options: elements },
    informationField(reader, withNamed(information, one('info')), byDefault),
    choice('theme', t('designer.theme'), t('designer.themeNone'), withNamed(themes, one('theme'))),
    choice('notification', t('designer.mail'), t('designer.mailNone'), withNamed(mails, one('notification'))),
    ...optionFields(reader),
    ...contextFields(reader, one),
    {
      name: 'defaultLanguage',
      label: t('designer.defaultLanguage'),
      kind: 'select',
      options: languageChoices(reader, languages),
    },
    ...languages.flatMap((language) => textFields(reader, languages, language)),
  ];
}

/** Without a default, the only information there is needs no choice. */
function informationField(
  { t }: ConsoleReader,
  information: Options,
  byDefault: string | undefined,
): FieldSpec {
  const label = t('designer.info');
  if (!byDefault && information.length === 1)
    return { name: 'info', label, kind: 'select', options: information };
  const none = byDefault ? t('designer.infoDefault', { name: byDefault }) : t('designer.infoNone');
  return choice('info', label, none, information);
}

/** Says where an element is that was moved or added; the row of a removed one is another's. */
function movedText(
  { t }: ConsoleReader,
  name = '',
  { row, button, count }: RowFocus & { count: number },
): string | undefined {
  return button === 'remove' ? undefined : t('rows.moved', { name, place: row + 1, count });
}

function choice(name: string, label: string, none: string, options: Options): FieldSpec {
  return { name, label, kind: 'select', options: [['', none], ...options] };
}

/** An entry that is named but is not ACTIVE stays chosen. */
function withNamed(options: Options, named: string): Options {
  return named === '' || options.some(([key]) => key === named) ? options : [...options, [named, named]];
}

function optionFields(reader: ConsoleReader): FieldSpec[] {
  const { t } = reader;
  return [
    {
      name: 'orientation',
      label: t('designer.orientation'),
      kind: 'radios',
      isRequired: true,
      options: orientationsOf(reader),
    },
    {
      name: 'switches',
      label: t('designer.switches'),
      kind: 'checks',
      options: wordChoices(reader, 'switch', switchNames),
    },
  ];
}

/** Offered durations; a duration that a program has set stays chosen. */
const validities = ['P3M', 'P6M', 'P1Y', 'P2Y', 'P5Y', 'P10Y'];
const deadlines = ['PT1H', 'P1D', 'P7D', 'P30D', 'P90D'];

/** What the layout gives the transactions that do not say it themselves. */
function contextFields(reader: ConsoleReader, one: Layout['one']): FieldSpec[] {
  const { t } = reader;
  const field = fieldsFor(reader, 'context');
  const durations = (name: 'validity' | 'timeout', offered: readonly string[]): Options =>
    [...new Set([...offered, one(name)])]
      .filter(Boolean)
      .map((each) => [each, reader.duration(each)] as const);
  /** What is chosen if nothing is: the default of a context (docs/interface.md, "The consent context"). */
  const usual = (word: string, options: Options): Options => [['', word], ...options];
  // Layouts that programs make may say NONE, which is then kept.
  const codes = ['FORM_CODE', 'EMAIL_CODE', 'SMS_CODE', ...(one('confirmation') === 'NONE' ? ['NONE'] : [])];
  const confirmations = wordChoices(reader, 'confirmation', codes);
  return [
    field('validity', {
      kind: 'select',
      options: usual(t('context.usualValidity'), durations('validity', validities)),
    }),
    field('timeout', {
      kind: 'select',
      options: usual(t('context.usualTimeout'), durations('timeout', deadlines)),
    }),
    field('confirmation', {
      kind: 'select',
      options: usual(reader.word('confirmation', 'NONE'), confirmations),
    }),
    field('ask', {
      kind: 'select',
      options: usual(t('context.askAll'), [['CHANGED', t('context.askChanged')]]),
    }),
    field('callback', { kind: 'url' }),
  ].map((each) => ({ ...each, pointer: `/context/${each.name}` }));
}

function textFields(
  { t, languageName }: ConsoleReader,
  languages: readonly string[],
  language: string,
): FieldSpec[] {
  return textNames.map((name) => ({
    name: `${name}-${language}`,
    label: t(`text.${name}`),
    ...(languages.length > 1 && { group: languageName(language) }),
    maxLength: 120,
  }));
}

/** The sentences of what forbids the form. A form without elements is only not finished yet. */
function faultTexts(
  reader: ConsoleReader,
  faults: Awaited<ReturnType<typeof findFaults>>,
  { elements }: Layout,
) {
  return faults
    .filter(({ code }) => code !== 'no-element')
    .map(({ pointer, code, detail }) => {
      const named = elements[Number(/^\/elements\/(\d+)$/.exec(pointer)?.[1] ?? Number.NaN)];
      const key = `fault.${code}`;
      const isKnown = reader.has(key);
      const text = isKnown ? reader.t(key) : detail;
      const prefix = code === 'unknown-element' && named ? `${named}: ` : '';
      return { text: `${prefix}${text}`, ...(!isKnown && { lang: 'en' }) };
    });
}
