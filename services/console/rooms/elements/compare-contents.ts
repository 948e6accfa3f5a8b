import type { ElementType, Version } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type Change, differenceOf } from '../../pages/text-diff.ts';
import { type ContentField, contentFields } from './content-fields.ts';
import { shownValues } from './content-values.ts';
import { richTextLines } from './rich-text-lines.ts';

type Members = Record<string, unknown>;

/** A member of the content, and how its value is written. */
interface Compared {
  label: string;
  isText: boolean;
  /** How people read its value; default: as it is written. */
  shown?(text: string): string;
  textOf(members: Members | undefined): string;
}

/** What differs between two versions of an element, by member and language; without `before` all is new. */
export function compareContents(
  reader: ConsoleReader,
  type: ElementType,
  { before, after }: { before: Version | undefined; after: Version },
): Change[] {
  const { t, languageName } = reader;
  const versions = before ? [before, after] : [after];
  const languages = [...new Set([after, ...versions].flatMap(({ data }) => Object.keys(data)))];
  const compare = (label: string, textIn: (version: Version) => string, shown?: Compared['shown']) => {
    const [old, now] = [before ? textIn(before) : '', textIn(after)];
    // Where markup alone differs, it is shown.
    return (shown && differenceOf(label, shown(old), shown(now))) ?? differenceOf(label, old, now);
  };
  const found = comparedMembers(reader, type, versions).flatMap(({ label, isText, shown, textOf }) => {
    const textIn = (version: Version, language: string) => textOf(version.data[language] as Members);
    const isShared = versions.every(
      (version) => new Set(Object.keys(version.data).map((language) => textIn(version, language))).size === 1,
    );
    // Programs may store another value in each language of what the editor shows once.
    if (!isText && isShared) return compare(label, (version) => textIn(version, version.defaultLanguage));
    return languages.map((language) =>
      compare(`${label} (${languageName(language)})`, (version) => textIn(version, language), shown),
    );
  });
  return [
    compare(t('elements.languages'), ({ data }) => reader.languageNames(Object.keys(data))),
    before && compare(t('elements.defaultLanguage'), (version) => languageName(version.defaultLanguage)),
    ...found,
  ].filter((each) => each !== undefined);
}

/** The members that the editor knows, then all others of these versions by their names. */
function comparedMembers(reader: ConsoleReader, type: ElementType, versions: readonly Version[]): Compared[] {
  const fields = contentFields[type];
  const known = fields.map((field) => ({
    label: reader.t(`content.${field.word ?? field.path}`),
    isText: field.isText ?? false,
    ...(field.kind === 'rich' && { shown: richTextLines }),
    textOf: (members: Members | undefined) => textOfField(reader, field, members),
  }));
  const contents = versions.flatMap(({ data }) => Object.values(data) as Members[]);
  // The editor shows a style sheet as several fields.
  const isKnown = (path: string) =>
    path === 'css' ||
    path === 'includeDefault' ||
    path === 'refusable' ||
    fields.some((field) => field.path === path);
  const paths = [...new Set(contents.flatMap((members) => [...leavesOf(members).keys()]))];
  const unknown = paths
    .filter((path) => !isKnown(path))
    .map((path) => ({
      label: path,
      isText: false,
      textOf: (members: Members | undefined) => leavesOf(members ?? {}).get(path) ?? '',
    }));
  return [...known, ...unknown];
}

function textOfField(reader: ConsoleReader, field: ContentField, members: Members | undefined): string {
  if (!members) return '';
  if (field.parts) return textOfItems(reader, field, members);
  const values = shownValues(members, field);
  if (field.kind === 'check' || field.kind === 'not')
    return reader.t(values[0] === 'yes' ? 'elements.yes' : 'elements.no');
  if (field.kind === 'duration') return values.map(reader.duration).join('');
  return reader.list(values.map((value) => (field.options ? reader.word('option', value) : value)));
}

/** The items of a list; an empty list says that there is nobody. */
function textOfItems(reader: ConsoleReader, { path, parts = [] }: ContentField, members: Members): string {
  const items = members[path] as Members[] | undefined;
  if (items?.length === 0) return reader.t(`content.${path}.none`);
  return (items ?? []).map((item) => parts.flatMap((part) => item[part] ?? []).join(': ')).join('\n');
}

/** Values by path, such as `retention.unit`; lists are values. */
function leavesOf(members: Members, prefix = ''): Map<string, string> {
  const leaves = Object.entries(members).flatMap(([name, value]): [string, string][] => {
    const path = prefix + name;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return [...leavesOf(value as Members, `${path}.`)];
    return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return new Map(leaves);
}
