import { processingChoice } from '#lib/contracts/element-rules.ts';
import type { Content } from '../../models/editor.ts';
import type { ElementType } from '../../models/read-model.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { Edited } from '../../pages/merge.ts';
import { type ContentField, contentFields, partPaths } from './content-fields.ts';
import { defaultAccent, joinCss, splitCss } from './theme-css.ts';

type Members = Record<string, unknown>;

/** Name of the input of a member. @param language `*` for members that mean the same in all languages. */
export function inputName(language: string, path: string): string {
  return `${language}:${path}`;
}

/** Name of the input that says that a list of people is empty, which is a statement of its own. */
export function nobodyName({ path }: ContentField): string {
  return inputName('*', `${path}.none`);
}

/** The members with the controls of a theme in place of its style sheet. */
function withControls(members: Members): Members {
  return typeof members.css === 'string' ? { ...members, css: splitCss(members.css) } : members;
}

/** The members as the API has them. */
function withStyleSheet({ css, ...members }: Members): Members {
  const sheet = css && joinCss(css);
  return sheet ? { ...members, css: sheet } : members;
}

/** The values of a member as an input shows them. */
export function shownValues(members: Members | undefined, { path, kind }: ContentField): string[] {
  const value =
    path === 'choice'
      ? members && processingChoice(members)
      : path
          .split('.')
          .reduce<unknown>(
            (at, name) => (at as Members | undefined)?.[name],
            members && withControls(members),
          );
  if (Array.isArray(value))
    return value.map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each)));
  if (kind === 'check') return value === true ? ['yes'] : [];
  if (kind === 'not') return value === false ? ['yes'] : [];
  if (kind === 'color') return [String(value ?? defaultAccent)];
  return value === undefined || value === null ? [] : [String(value)];
}

/** The languages and inputs of stored content. The main language is written first, and translated. */
export function editedOf(type: ElementType, { defaultLanguage, data }: Content): Edited {
  const languages = [defaultLanguage, ...Object.keys(data).filter((each) => each !== defaultLanguage)];
  const values: Record<string, string[]> = {};
  const main = data[defaultLanguage];
  for (const field of contentFields[type]) {
    for (const language of field.isText ? languages : ['*']) {
      const members = language === '*' ? main : data[language];
      if (field.parts) Object.assign(values, shownItems(language, members, field));
      else values[inputName(language, field.path)] = shownValues(members, field);
    }
    if (field.parts) values[nobodyName(field)] = isEmptyList(main?.[field.path]) ? ['yes'] : [];
  }
  return {
    languages,
    values: type === 'preference' ? { ...values, ...shownDefaults(languages, data) } : values,
  };
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** The members of the items of a list, each as a list of its own. */
function shownItems(language: string, members: Members | undefined, { path, parts = [] }: ContentField) {
  const items = (members?.[path] ?? []) as Members[];
  return Object.fromEntries(
    parts.map((part) => [
      inputName(language, `${path}.${part}`),
      items.map((item) => String(item[part] ?? '')),
    ]),
  );
}

/** The answers with which a question begins: by the places of options, or as text. */
function shownDefaults(languages: readonly string[], data: Content['data']): Record<string, string[]> {
  const defaultsIn = (language: string) => {
    const { includeDefault, defaultValues = [] } = data[language] ?? {};
    return includeDefault === true ? (defaultValues as string[]) : [];
  };
  const [main = ''] = languages;
  const options = (data[main]?.options ?? []) as string[];
  const isText = data[main]?.valueType === 'FREE_TEXT';
  const places = defaultsIn(main).map((text) => options.indexOf(text));
  return {
    [inputName('*', 'defaultValues')]: places.filter((place) => place >= 0).map(String),
    ...Object.fromEntries(
      languages.map((each) => [inputName(each, 'defaultValues'), isText ? defaultsIn(each) : []]),
    ),
  };
}

/** Puts what was typed into the content; other members stay as they were. */
export function mergeContent(
  before: Content,
  fields: readonly ContentField[],
  languages: readonly string[],
  posted: PostedForm,
): Content {
  const data: Record<string, Members> = {};
  for (const language of languages) {
    const members = withControls(structuredClone(before.data[language] ?? {}));
    for (const field of fields.filter((each) => isStated(each, posted))) {
      if (field.kind === 'defaults') setDefaults(members, language, posted);
      else setMember(members, field.path.split('.'), readField(field, { language, languages, posted }));
      // The one word for both: what was stored before must not contradict it.
      if (field.path === 'choice' && members.choice !== undefined) delete members.refusable;
    }
    data[language] = withStyleSheet(members);
  }
  return { defaultLanguage: before.defaultLanguage, data };
}

/**
 * Whether a form says something about a member. A box that is not ticked and a list without rows send
 * nothing: that the form had them is said by its field `shown`.
 */
function isStated(field: ContentField, posted: PostedForm): boolean {
  const { kind, parts, path } = field;
  if (kind !== 'not' && kind !== 'defaults' && !parts) return true;
  return posted.shown !== undefined || Object.keys(posted).some((name) => name.split(/[:.]/)[1] === path);
}

/** Where a field is read. */
interface Reading {
  language: string;
  languages: readonly string[];
  posted: PostedForm;
}

function readField(field: ContentField, reading: Reading): unknown {
  const { language, posted } = reading;
  if (field.kind === 'rows') return typedRows(field, reading);
  return typedValue(field, posted[inputName(field.isText ? language : '*', field.path)] ?? []);
}

/**
 * The items of a list. A row without a text in any language is left out; the others keep their order. Without
 * rows the list is absent, or empty if that was stated.
 */
function typedRows(field: ContentField, { language, languages, posted }: Reading): unknown {
  const paths = partPaths(field);
  const textAt = (tag: string, path: string, row: number) =>
    posted[inputName(tag, path)]?.[row]?.trim() ?? '';
  const lists = languages.flatMap((tag) => paths.map((path) => posted[inputName(tag, path)] ?? []));
  const rows = Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, row) => row);
  const filled = rows.filter((row) => lists.some((list) => list[row]?.trim()));
  const { parts } = field;
  if (!parts) {
    const texts = filled.map((row) => textAt(language, field.path, row));
    return texts.some((each) => each !== '') ? texts : undefined;
  }
  if (filled.length === 0) return posted[nobodyName(field)]?.[0] === 'yes' ? [] : undefined;
  return filled.map((row) => {
    const members = parts.map((part) => [part, textAt(language, `${field.path}.${part}`, row)] as const);
    return Object.fromEntries(members.filter(([, text]) => text !== ''));
  });
}

/** Sets the answers with which a question begins. Defaults that are stored but not used stay as they are. */
function setDefaults(members: Members, language: string, posted: PostedForm): void {
  const options = posted[inputName(language, 'options')] ?? [];
  const chosen = (posted[inputName('*', 'defaultValues')] ?? []).map(
    (row) => options[Number(row)]?.trim() ?? '',
  );
  const written = posted[inputName(language, 'defaultValues')]?.[0]?.trim() ?? '';
  const defaults = (members.valueType === 'FREE_TEXT' ? [written] : chosen).filter(Boolean);
  if (defaults.length > 0) Object.assign(members, { includeDefault: true, defaultValues: defaults });
  else if (members.includeDefault === true) {
    delete members.includeDefault;
    delete members.defaultValues;
  }
}

function typedValue({ kind }: ContentField, given: readonly string[]): unknown {
  const text = given[0]?.trim() ?? '';
  switch (kind) {
    case 'check':
      return text === 'yes';
    case 'not':
      return text === 'yes' ? false : undefined;
    case 'checks':
      return given.length > 0 ? [...given] : undefined;
    case 'color':
      return text === defaultAccent ? undefined : text || undefined;
    case 'number':
      // The API says what is wrong with a text that is no number.
      return text === '' ? undefined : Number.isNaN(Number(text)) ? text : Number(text);
    default:
      return text === '' ? undefined : text;
  }
}

/** Sets or removes a member; an object that becomes empty is removed too. */
function setMember(members: Members, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    if (value === undefined) delete members[name];
    else members[name] = value;
    return;
  }
  const inner = { ...((members[name] as Members | undefined) ?? {}) };
  setMember(inner, rest, value);
  if (Object.keys(inner).length === 0) delete members[name];
  else members[name] = inner;
}
