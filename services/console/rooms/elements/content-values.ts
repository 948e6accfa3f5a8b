import type { Content } from '../../models/editor.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { ContentField } from './content-fields.ts';
import { defaultAccent, joinCss, splitCss } from './theme-css.ts';

type Members = Record<string, unknown>;

/** Name of the input of a member. @param language `*` for members that mean the same in all languages. */
export function inputName(language: string, path: string): string {
  return `${language}:${path}`;
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
  const value = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Members | undefined)?.[name], members && withControls(members));
  if (Array.isArray(value)) return value.map(String);
  if (kind === 'check') return value === true ? ['yes'] : [];
  if (kind === 'color') return [String(value ?? defaultAccent)];
  return value === undefined || value === null ? [] : [String(value)];
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
    for (const field of fields) {
      const given = posted[inputName(field.isText ? language : '*', field.path)] ?? [];
      const typed = field.kind === 'rows' ? filledRows(posted, field, { given, languages }) : given;
      setMember(members, field.path.split('.'), typedValue(field, typed));
    }
    data[language] = withStyleSheet(members);
  }
  return { defaultLanguage: before.defaultLanguage, data };
}

/** The texts of a list. A row without a text in any language is left out; the others keep their order. */
function filledRows(
  posted: PostedForm,
  { path }: ContentField,
  { given, languages }: { given: readonly string[]; languages: readonly string[] },
): string[] {
  const lists = languages.map((language) => posted[inputName(language, path)] ?? []);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const rows = Array.from({ length: longest }, (_, row) => row);
  return rows.filter((row) => lists.some((list) => list[row]?.trim())).map((row) => given[row]?.trim() ?? '');
}

function typedValue({ kind }: ContentField, given: readonly string[]): unknown {
  const text = given[0]?.trim() ?? '';
  switch (kind) {
    case 'check':
      return text === 'yes';
    case 'checks':
      return given.length > 0 ? [...given] : undefined;
    case 'rows':
      return given.some((each) => each !== '') ? [...given] : undefined;
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
