import { linkPlaceholder } from '#lib/contracts/rich-text.ts';
import type { ElementType } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, wordChoices } from '../../pages/form.ts';
import { type ContentField, contentFields } from './content-fields.ts';
import { inputName } from './content-values.ts';

/** The fields of the editor: the texts of each language, then what means the same in all. */
export function fieldsOf(
  reader: ConsoleReader,
  type: ElementType,
  languages: readonly string[],
): FieldSpec[] {
  const [first = 'en'] = languages;
  return [...languages, '*'].flatMap((language) =>
    contentFields[type]
      .filter(({ isText = false }) => isText === (language !== '*'))
      .map((field) => fieldOf(reader, field, { type, language, first })),
  );
}

/** @param place the element's type, the language of the input, and the first of all. */
function fieldOf(
  reader: ConsoleReader,
  { path, kind, isRequired, options = [] }: ContentField,
  { type, language, first }: { type: ElementType; language: string; first: string },
): FieldSpec {
  const isList = kind === 'select' || kind === 'checks';
  return {
    name: inputName(language, path),
    label: reader.t(`content.${path}`),
    kind: kind === 'rich' ? 'textarea' : kind === 'rows' ? 'text' : kind,
    ...(kind === 'rich' && {
      hint: reader.t('content.richHint'),
      rich: {
        dir: reader.in(language).dir ?? reader.dir,
        ...(type === 'email' && { placeholder: linkPlaceholder }),
      },
    }),
    ...(isList && {
      options: [
        ...(kind === 'select' && !isRequired ? [['', '–'] as const] : []),
        ...wordChoices(reader, 'option', options),
      ],
    }),
    ...(path === 'css.own' && { isCode: true }),
    // A draft may lack what an active version needs; the label says which members are optional.
    isNeeded: isRequired ?? false,
    pointer: `/data/${language === '*' ? first : language}/${path.replace(/\.own$/, '').replaceAll('.', '/')}`,
  };
}
