import type Router from '@koa/router';
import type { Context } from 'koa';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { type Content, type DraftEdit, draftEditor } from '../../models/editor.ts';
import { previewLooks } from '../../models/preview.ts';
import { type ElementType, type FoundElement, findElement, newestVersion } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { FieldSpec, FormView } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import type { Edited } from '../../pages/merge.ts';
import { labelIn, mergedView } from '../../pages/merge-form.ts';
import { type ContentField, contentFields } from './content-fields.ts';
import { editedOf, inputName, mergeContent, shownValues } from './content-values.ts';
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
export function editorRoutes(router: Router, kit: RoomKit): void {
  draftEditor<ElementType, ElementEdit>(router, kit, {
    find: findElement,
    rules: { languageOf, groupOf },
    editedOf,
    typedIn: (posted) => ({ languages: posted.languages ?? [], values: posted }),
    bodyOf: (type, { languages, values }, stored) =>
      mergeContent(stored, contentFields[type], languages, values),
    change(edit, op, { language: [language = ''] = [] }, type) {
      const { languages, values } = edit;
      if (op === 'add-language') {
        const added = language.trim();
        if (!languageTag.test(added) || languages.includes(added)) return edit;
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
    show: (ctx, found, edit) => showEditor(ctx, kit, found, edit),
    saved(ctx, { entry, href }, { op, posted, stored, open }) {
      const removed = removedMarkup(contentFields[entry.type], posted, stored.data);
      if (removed.length > 0) return open({ removed });
      if (op === 'activate' || op === 'logo') return kit.open(ctx, `${href}/${op}`);
      return kit.open(ctx, href, 'elementSaved');
    },
  });
}

async function showEditor(ctx: Context, kit: RoomKit, { entry, href }: FoundElement, edit: ElementEdit) {
  kit.require(ctx, 'createVersion');
  const reader = kit.reader(ctx);
  const fields = contentFields[entry.type];
  const { languages, values, failure, draft } = edit;
  const form = kit.form(ctx, {
    action: `${href}/edit`,
    submit: reader.t('elements.saveDraft'),
    cancelUrl: href,
    fields: fieldsOf(reader, entry.type, edit).map((field) => withStored(field, values[field.name]?.[0])),
    values,
    failure: failure ?? edit.checked,
    hidden: { draft, etag: edit.etag, base: JSON.stringify(edit.base), shown: 'yes' },
  });
  const list = listOf(fields);
  const [first = ''] = languages;
  const shown = newestVersion(entry);
  const inputsOf = (language: string) => inputsIn(language, form, { fields, edit });
  const locals = {
    title: reader.t('elements.editTitle', { name: entry.name }),
    form,
    languages,
    mayActivate: kit.may(ctx, 'setVersionStatus'),
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
    columns: languages.map((language) => ({
      language,
      name: reader.languageName(language),
      state: reader.t('elements.missing', { count: countMissing(language, fields, edit) }),
      copyFrom: reader.t('elements.copyFrom', { language: reader.languageName(first) }),
      fields: inputsOf(language),
      removeOp: languages.length > 1 ? `removeLanguage:${language}` : '',
      preview: reader.t('elements.previewIn', { language: reader.languageName(language) }),
    })),
    looks: previewLooks(ctx, kit, { hasOrientation: hasOrientation(entry.type), typed: values }),
    previewUrl: `${href}/edit/preview`,
    frameUrl: shown && withQuery(`${href}/versions/${shown.id}/page`, { language: first }),
    firstLanguage: first,
    common: inputsOf('*'),
    list: list && rowsView(reader, list, form, edit),
    contrast: contrastText(reader, values['*:css.accent']?.[0]),
    differing: (edit.differing ?? []).map((name) => form.byName[name]?.label ?? name),
    differingText: reader.t('elements.differing', { language: reader.languageName(first) }),
  };
  await kit.page(ctx, 'edit', locals, edit.isMerged ? 412 : failure?.status);
}

/** The inputs of a language, or with `*` of all, with what helps to translate them. */
function inputsIn(
  language: string,
  form: FormView,
  { fields, edit: { languages, values } }: { fields: readonly ContentField[]; edit: ElementEdit },
) {
  const [first = ''] = languages;
  return fields
    .filter(({ isText = false, kind }) => isText === (language !== '*') && kind !== 'rows')
    .map(({ path, kind }) => {
      const name = inputName(language, path);
      const text = language === '*' || language === first ? '' : values[inputName(first, path)]?.[0];
      return {
        field: form.byName[name],
        // In one column the text to translate stands above its field. Rich text would be its HTML.
        source: kind === 'rich' ? '' : text,
        copyOp: text && !values[name]?.[0] && `copy:${name}`,
      };
    });
}

/** How many texts a language lacks. */
function countMissing(language: string, fields: readonly ContentField[], edit: ElementEdit): number {
  const isMissing = ({ isText, isRequired, path }: ContentField) =>
    isText && isRequired && !edit.values[inputName(language, path)]?.some((each) => each.trim());
  const list = listOf(fields);
  const rows = list ? countMissingRows(list, edit, language) : 0;
  return fields.filter(isMissing).length + (lacksRetention(language, fields, edit) ? 1 : 0) + rows;
}

/** How long data are kept is said in words, or as a number. */
function lacksRetention(language: string, fields: readonly ContentField[], { values }: ElementEdit): boolean {
  if (!fields.some(({ path }) => path === 'retention.fullText')) return false;
  const isBlank = (name: string) => !values[name]?.[0]?.trim();
  return isBlank(inputName(language, 'retention.fullText')) && isBlank(inputName('*', 'retention.value'));
}

/** The language of an input; `*` of those that mean the same in all. */
function languageOf(name: string): string | undefined {
  const [language] = name.split(':', 1);
  return language === '*' ? undefined : language;
}

/** A field that can show its value: a program may have stored another one than the editor offers. */
function withStored(field: FieldSpec, value = ''): FieldSpec {
  const { kind, options = [] } = field;
  if (kind === 'color' && !/^#[0-9a-f]{6}$/i.test(value)) return { ...field, kind: 'text', isCode: true };
  const isOffered = value === '' || options.some(([each]) => each === value);
  return kind === 'select' && !isOffered ? { ...field, options: [...options, [value, value]] } : field;
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

const languageTag = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** Programs may store members differently in each language that the editor shows once. */
function differingIn(type: ElementType, { defaultLanguage, data }: Content): string[] {
  const shown = (language: string, field: ContentField) => JSON.stringify(shownValues(data[language], field));
  return contentFields[type]
    .filter((field) => !field.isText)
    .filter((field) => Object.keys(data).some((each) => shown(each, field) !== shown(defaultLanguage, field)))
    .map(({ path }) => inputName('*', path));
}
