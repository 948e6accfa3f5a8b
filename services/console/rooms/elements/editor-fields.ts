import { linkPlaceholder } from '#lib/contracts/rich-text.ts';
import type { ElementType } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, wordChoices } from '../../pages/form.ts';
import type { Edited } from '../../pages/merge.ts';
import { type ContentField, contentFields } from './content-fields.ts';
import { inputName, nobodyName } from './content-values.ts';
import { listOf, rowFields } from './row-lists.ts';

/** The fields of the editor: rows, the texts of each language, then what means the same in all. */
export function fieldsOf(reader: ConsoleReader, type: ElementType, edit: Edited): FieldSpec[] {
  const { languages } = edit;
  const fields = contentFields[type];
  const list = listOf(fields);
  return [
    ...(list ? rowFields(reader, list, edit) : []),
    ...[...languages, '*'].flatMap((language) =>
      fields
        .filter(({ isText = false }) => isText === (language !== '*'))
        .map((field) => fieldOf(reader, field, { type, language, languages })),
    ),
    ...(list?.parts
      ? [{ name: nobodyName(list), kind: 'check' as const, label: reader.t(`content.${list.path}.none`) }]
      : []),
    ...(type === 'preference' ? [chosenField(reader, languages)] : []),
  ];
}

/** Faults of the options that are chosen from the start. */
function chosenField({ t }: ConsoleReader, languages: readonly string[]): FieldSpec {
  const pointer = languages.map((each) => `/data/${each}/defaultValues`);
  return { name: inputName('*', 'defaultValues'), label: t('content.options.chosen'), pointer };
}

/** @param place the element's type, the language of the input, and all languages. */
function fieldOf(
  reader: ConsoleReader,
  { path, kind, isRequired, isNeeded, word = path, options = [] }: ContentField,
  { type, language, languages }: { type: ElementType; language: string; languages: readonly string[] },
): FieldSpec {
  const isList = kind === 'select' || kind === 'checks' || kind === 'duration';
  // Faults name the word that is stored (`processingChoice`).
  const members =
    path === 'choice' ? ['choice', 'refusable'] : [path.replace(/\.own$/, '').replaceAll('.', '/')];
  const hint = kind === 'rich' ? 'content.richHint' : `content.${word}Hint`;
  return {
    name: inputName(language, path),
    label: reader.t(`content.${word}`),
    kind: inputKinds[kind] ?? (kind as FieldSpec['kind']),
    ...(reader.has(hint) && { hint: reader.t(hint) }),
    ...(kind === 'rich' && {
      rich: {
        dir: reader.in(language).dir ?? reader.dir,
        ...(type === 'email' && { placeholder: linkPlaceholder }),
      },
    }),
    ...(isList && {
      options: [
        ...(kind === 'select' && !isRequired ? [['', '–'] as const] : []),
        ...(kind === 'duration'
          ? [['', reader.t(`content.${word}.none`)] as const, ...durationChoices(reader, options)]
          : wordChoices(reader, 'option', options)),
      ],
    }),
    ...(path === 'css.own' && { isCode: true }),
    // A draft may lack what an active version needs; the label says which members are optional.
    isNeeded: isRequired ?? isNeeded ?? false,
    ...(language !== '*' && languages.length > 1 && { group: reader.languageName(language) }),
    pointer: (language === '*' ? languages : [language]).flatMap((each) =>
      members.map((name) => `/data/${each}/${name}`),
    ),
  };
}

/** Durations in words. */
function durationChoices(reader: ConsoleReader, options: readonly string[]) {
  return options.map((each) => [each, reader.duration(each)] as const);
}

/** Kinds of members whose inputs are called otherwise. */
const inputKinds: Partial<Record<ContentField['kind'], FieldSpec['kind']>> = {
  rich: 'textarea',
  rows: 'text',
  duration: 'select',
  not: 'check',
  defaults: 'text',
};
