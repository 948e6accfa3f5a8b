import type Router from '@koa/router';
import type { Context } from 'koa';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { type Content, type DraftEdit, draftEditor } from '../../models/editor.ts';
import { languageList, languageTyped } from '../../models/language-list.ts';
import { previewLooks } from '../../models/preview.ts';
import { type ElementType, type FoundElement, findElement, newestVersion } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { FieldSpec, FormView } from '../../pages/form.ts';
import type { Edited } from '../../pages/merge.ts';
import { labelIn, mergedView } from '../../pages/merge-form.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { type ContentField, contentFields, partPaths } from './content-fields.ts';
import { editedOf, inputName, mergeContent, nobodyName, shownValues } from './content-values.ts';
import { fieldsOf } from './editor-fields.ts';
import { hasOrientation } from './preview.ts';
import { type RemovedMarkup, removedMarkup } from './removed-markup.ts';
import { changeRows, countMissingRows, groupOf, type ListFocus, listOf, rowsView } from './row-lists.ts';
import { contrastWithWhite } from './theme-css.ts';

/** What the editor of an element shows. */
interface ElementEdit extends DraftEdit {
  /** What the API has just taken away from the texts. */
  removed?: readonly RemovedMarkup[];
  focus?: ListFocus;
}

/** The content of an element: its languages side by side, and below what means the same in all. */
export function editorRoutes(router: Router, tools: RoomTools): void {
  draftEditor<ElementType, ElementEdit>(router, tools, {
    find: findElement,
    rules: { languageOf, groupOf },
    editedOf,
    typedIn: (posted) => ({ languages: posted.languages ?? [], values: posted }),
    bodyOf: (type, { languages, values }, stored) =>
      mergeContent(stored, contentFields[type], languages, values),
    change(edit, op, { language: [language = ''] = [] }, type) {
      const { languages, values } = edit;
      if (op === 'add-language') {
        const added = languageTyped(language);
        if (!added || languages.includes(added)) return edit;
        return { ...edit, languages: [...languages, added], values: { ...values, language: [] } };
      }
      if (op.startsWith('copy:')) return { ...edit, values: copied(edit, op.slice('copy:'.length)) };
      if (op.startsWith('removeLanguage:'))
        return { ...edit, languages: languages.filter((each) => `removeLanguage:${each}` !== op) };
      const list = listOf(contentFields[type]);
      const changed = list && changeRows(list, edit, op);
      return changed && { ...edit, ...changed };
    },
    differingIn,
    show: (ctx, found, edit) => showEditor(ctx, tools, found, edit),
    saved(ctx, { entry, href }, { op, posted, stored, open }) {
      const removed = removedMarkup(contentFields[entry.type], posted, stored.data);
      if (removed.length > 0) return open({ removed });
      if (op === 'activate' || op === 'logo') return tools.open(ctx, `${href}/${op}`);
      return tools.open(ctx, href, 'elementSaved');
    },
  });
}

async function showEditor(ctx: Context, tools: RoomTools, { entry, href }: FoundElement, edit: ElementEdit) {
  tools.require(ctx, 'createVersion');
  const reader = tools.reader(ctx);
  const fields = contentFields[entry.type];
  const { languages, values, failure, draft } = edit;
  const form = tools.form(ctx, {
    action: `${href}/edit`,
    submit: reader.t('elements.saveDraft'),
    cancelUrl: href,
    fields: fieldsOf(reader, entry.type, edit).map((field) =>
      withStored(reader, field, values[field.name]?.[0]),
    ),
    values,
    failure: failure ?? edit.checked,
    hidden: { draft, etag: edit.etag, base: JSON.stringify(edit.base), shown: 'yes' },
  });
  const list = listOf(fields);
  const [first = ''] = languages;
  const shown = newestVersion(entry);
  const locals = {
    title: reader.t('elements.editTitle', { name: entry.name }),
    form,
    languages,
    mayActivate: tools.may(ctx, 'setVersionStatus'),
    hasLogo: entry.type === 'theme',
    guard: edit.isChanged ? 'changed' : 'new',
    typedLanguage: values.language?.[0] ?? '',
    merge: mergedView(reader, form, { ...edit, languageOf }),
    hasRich: fields.some(({ kind }) => kind === 'rich'),
    richRules: JSON.stringify(richTextRules),
    removed: (edit.removed ?? []).map(({ name, tags }) => ({
      label: labelIn(reader, form.byName[name]?.label ?? name, languageOf(name)),
      tags,
    })),
    heads: languages.map((language) => headOf(reader, language, { fields, edit })),
    rows: textRows(reader, form, { fields, edit }),
    copyFrom: reader.t('elements.copyFrom', { language: reader.languageName(first) }),
    known: languageList(reader.language).filter(
      (name) => !languages.some((each) => reader.languageName(each) === name),
    ),
    looks: previewLooks(ctx, tools, { hasOrientation: hasOrientation(entry.type), typed: values }),
    previewUrl: `${href}/edit/preview`,
    frameUrl: shown && withQuery(`${href}/versions/${shown.id}/page`, { language: first }),
    firstLanguage: first,
    common: commonFields(form, fields),
    list: list && rowsView(reader, list, form, edit),
    contrast: contrastText(reader, values['*:css.accent']?.[0]),
    differing: (edit.differing ?? []).map((name) => form.byName[name]?.label ?? name),
    differingText: reader.t('elements.differing', { language: reader.languageName(first) }),
  };
  await tools.page(ctx, 'edit', locals, edit.isMerged ? 412 : failure?.status);
}

interface Shown {
  fields: readonly ContentField[];
  edit: ElementEdit;
}

/** A language above its texts, with what a script needs to count what it lacks while it is written. */
function headOf(reader: ConsoleReader, language: string, { fields, edit }: Shown) {
  const needs = needsOf(language, fields);
  const rows = needs.rows ? (edit.values[needs.rows.name]?.length ?? 0) : 0;
  const most = needs.any.length + rows + 1;
  const stateOf = (count: number) => reader.t('elements.missing', { count });
  return {
    language,
    name: reader.languageName(language),
    state: stateOf(countMissing(language, fields, edit)),
    needs: JSON.stringify(needs),
    states: JSON.stringify(Array.from({ length: most + 1 }, (_, count) => stateOf(count))),
    removeOp: edit.languages.length > 1 ? `removeLanguage:${language}` : '',
    preview: reader.t('elements.previewIn', { language: reader.languageName(language) }),
  };
}

/** The texts: a row for each, with a cell for each language, and what helps to translate it. */
function textRows(reader: ConsoleReader, form: FormView, { fields, edit: { languages, values } }: Shown) {
  const [first = ''] = languages;
  const isSaid = (name: string) => values[name]?.some((each) => each.trim()) ?? false;
  return fields
    .filter(({ isText, kind }) => isText && kind !== 'rows')
    .map(({ path, isRequired, isNeeded }) =>
      languages.map((language) => {
        const name = inputName(language, path);
        const field = form.byName[name];
        const isOptional = !isRequired && !isNeeded && !isSaid(name);
        const isElsewhere = isOptional && languages.some((each) => isSaid(inputName(each, path)));
        const words = { label: field?.label ?? '', language: reader.languageName(language) };
        return {
          language,
          field: { ...field, lang: language, of: languages.length > 1 && reader.languageName(language) },
          lacks: isElsewhere && reader.t('elements.notIn', words),
          copyOp: language !== first && isSaid(inputName(first, path)) && !isSaid(name) && `copy:${name}`,
        };
      }),
    );
}

/** The inputs that mean the same in all languages. */
function commonFields(form: FormView, fields: readonly ContentField[]) {
  return fields.filter(({ isText }) => !isText).map(({ path }) => form.byName[inputName('*', path)]);
}

/** The inputs that a language needs: one of each group, each text of the rows, or the box instead of rows. */
function needsOf(language: string, fields: readonly ContentField[]) {
  const required = fields.filter(({ isText, isRequired }) => isText && isRequired);
  const list = listOf(fields);
  const [part = ''] = list ? partPaths(list) : [];
  return {
    any: [
      ...required.map(({ path }) => [inputName(language, path)]),
      ...(fields.some(({ path }) => path === retention) ? [retentionInputs(language)] : []),
    ],
    ...(list && {
      rows: { name: inputName(language, part), ...(list.parts && { or: nobodyName(list) }) },
    }),
  };
}

const retention = 'retention.fullText';
/** How long data are kept is said in words, or as a number. */
const retentionInputs = (language: string) => [
  inputName(language, retention),
  inputName('*', 'retention.value'),
];

/** How many texts a language lacks. */
function countMissing(language: string, fields: readonly ContentField[], edit: ElementEdit): number {
  const isBlank = (name: string) => !edit.values[name]?.some((each) => each.trim());
  const list = listOf(fields);
  const rows = list ? countMissingRows(list, edit, language) : 0;
  return needsOf(language, fields).any.filter((names) => names.every(isBlank)).length + rows;
}

/** The language of an input; `*` of those that mean the same in all. */
function languageOf(name: string): string | undefined {
  const [language] = name.split(':', 1);
  return language === '*' ? undefined : language;
}

/** A field that can show its value: a program may have stored another one than the editor offers. */
function withStored(reader: ConsoleReader, field: FieldSpec, value = ''): FieldSpec {
  const { kind, options = [] } = field;
  if (kind === 'color' && !/^#[0-9a-f]{6}$/i.test(value)) return { ...field, kind: 'text', isCode: true };
  const isOffered = value === '' || options.some(([each]) => each === value);
  return kind === 'select' && !isOffered
    ? { ...field, options: [...options, [value, reader.duration(value)]] }
    : field;
}

/** How well the accent colour of a theme can be read; links and buttons need a contrast of 4.5. */
function contrastText(reader: ConsoleReader, accent = ''): string {
  const contrast = contrastWithWhite(accent);
  if (contrast === undefined) return '';
  const ratio = reader.number(Math.floor(contrast * 10) / 10);
  return reader.t(contrast >= 4.5 ? 'elements.contrast' : 'elements.lowContrast', { ratio });
}

/** The values with the texts of the first language where an input of another one has none. */
function copied({ languages: [first = ''], values }: Edited, name: string): Edited['values'] {
  const path = name.slice(name.indexOf(':') + 1);
  // The items of a list may have several members.
  const paths = Object.keys(values)
    .map((each) => each.slice(each.indexOf(':') + 1))
    .filter((each) => each === path || each.startsWith(`${path}.`));
  const language = name.slice(0, name.indexOf(':'));
  const filled = [...new Set(paths)].map((each) => {
    const [target, source = []] = [inputName(language, each), values[inputName(first, each)]];
    return [target, source.map((text, index) => values[target]?.[index]?.trim() || text)] as const;
  });
  return { ...values, ...Object.fromEntries(filled) };
}

/** Programs may store members differently in each language that the editor shows once. */
function differingIn(type: ElementType, { defaultLanguage, data }: Content): string[] {
  const shown = (language: string, field: ContentField) => JSON.stringify(shownValues(data[language], field));
  return contentFields[type]
    .filter((field) => !field.isText)
    .filter((field) => Object.keys(data).some((each) => shown(each, field) !== shown(defaultLanguage, field)))
    .map(({ path }) => inputName('*', path));
}
