import type { Content } from '../../models/editor.ts';
import type { ElementType, Version } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type Difference, differenceOf } from '../../pages/text-diff.ts';
import { type ContentField, contentFields } from './content-fields.ts';
import { shownValues } from './content-values.ts';

/**
 * What differs between two versions of an element, by member and language. A member that the editor does not
 * know is not compared. @param before undefined: everything is new.
 */
export function compareContents(
  reader: ConsoleReader,
  type: ElementType,
  { before, after }: { before: Version | undefined; after: Version },
): Difference[] {
  const { t, languageName } = reader;
  const languages = [...new Set([...Object.keys(after.data), ...Object.keys(before?.data ?? {})])];
  const languagesOf = (version: Version | undefined) =>
    version ? reader.languageNames(Object.keys(version.data)) : '';
  const textIn = (version: Version | undefined, language: string, field: ContentField) =>
    version ? textOf(reader, field, (version.data as Content['data'])[language]) : '';
  const found = contentFields[type].flatMap((field) => {
    const label = t(`content.${field.path}`);
    if (!field.isText) {
      const one = before && textIn(before, before.defaultLanguage, field);
      return [differenceOf(label, one ?? '', textIn(after, after.defaultLanguage, field))];
    }
    return languages.map((language) =>
      differenceOf(
        `${label} (${languageName(language)})`,
        textIn(before, language, field),
        textIn(after, language, field),
      ),
    );
  });
  return [differenceOf(t('elements.languages'), languagesOf(before), languagesOf(after)), ...found].filter(
    (each) => each !== undefined,
  );
}

function textOf(reader: ConsoleReader, field: ContentField, members: Content['data'][string] | undefined) {
  const values = shownValues(members, field);
  if (field.kind === 'check') return reader.t(values[0] === 'yes' ? 'elements.yes' : 'elements.no');
  return reader.list(values.map((value) => (field.options ? reader.word('option', value) : value)));
}
