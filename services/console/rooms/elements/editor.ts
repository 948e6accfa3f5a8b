import type Router from '@koa/router';
import type { Context } from 'koa';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { FieldView, PostedForm } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { contentFields, type ElementType } from './content-fields.ts';
import { type Content, inputName, mergeContent, shownValues } from './content-values.ts';
import { fieldsOf } from './editor-fields.ts';
import { type Conflict, mergeLanguages, mergeValues } from './merge.ts';
import { type FoundElement, findElement, findVersion } from './read-element.ts';
import { type RemovedMarkup, removedMarkup } from './removed-markup.ts';

/** The content of an element: its languages side by side, and below what means the same in all. */
export function editorRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key/edit', (ctx) => showStored(ctx));

  /** Shows what is stored. @param removed what the API took away from the texts when it stored them. */
  async function showStored(ctx: Context, removed: readonly RemovedMarkup[] = []) {
    const element = await findElement(ctx, kit);
    const { content, draft, etag } = await readContent(ctx, kit, element);
    const { defaultLanguage } = content;
    // The main language is written first, and translated.
    const others = Object.keys(content.data).filter((each) => each !== defaultLanguage);
    const languages = [defaultLanguage, ...others];
    const values = valuesOf(element.entry.type, content);
    await show(ctx, element, { languages, values, draft, etag, base: { languages, values }, removed });
  }

  router.post('/:key/edit', async (ctx) => {
    const element = await findElement(ctx, kit);
    const posted = kit.posted(ctx);
    const { op = ['save'], draft = [''], etag = [''], language = [''] } = posted;
    const languages = [...(posted.languages ?? [])];
    const base = readBase(posted.base?.[0]);
    const conflicts = conflictsIn(posted);
    const opened = { draft: draft[0] ?? '', etag: etag[0] ?? '', base };
    const typed: Typed = { ...opened, languages, values: posted, conflicts };
    // A change of the form's shape shows what was typed again and saves nothing.
    if (op[0] === 'add-language') {
      const added = language[0]?.trim() ?? '';
      const isNew = languageTag.test(added) && !languages.includes(added);
      return show(ctx, element, { ...typed, languages: isNew ? [...languages, added] : languages });
    }
    if (op[0]?.startsWith('take:')) {
      const name = op[0].slice('take:'.length);
      const taken = conflicts.find((each) => each.name === name);
      return show(ctx, element, {
        ...typed,
        values: { ...posted, ...(taken && { [name]: taken.theirs }) },
        conflicts: conflicts.filter((each) => each !== taken),
      });
    }
    if (op[0]?.startsWith('remove:'))
      return show(ctx, element, {
        ...typed,
        languages: languages.filter((each) => `remove:${each}` !== op[0]),
      });
    try {
      const stored = await save(ctx, element, typed);
      const removed = removedMarkup(contentFields[element.entry.type], posted, stored);
      if (removed.length > 0) await showStored(ctx, removed);
      else if (op[0] === 'activate') kit.open(ctx, `${element.href}/activate`);
      else kit.open(ctx, element.href, 'elementSaved');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const failure = error;
      await (failure.status === 412
        ? showMerged(ctx, element, { ...typed, failure })
        : show(ctx, element, { ...typed, failure }));
    }
  });

  /** Another person has saved: shows both people's changes, and asks where they differ. Saves nothing. */
  async function showMerged(ctx: Context, element: FoundElement, typed: Typed) {
    const { content, draft, etag } = await readContent(ctx, kit, element);
    const theirs = {
      languages: Object.keys(content.data),
      values: valuesOf(element.entry.type, content),
    };
    const { base } = typed;
    await show(ctx, element, {
      ...typed,
      ...mergeValues(base.values, typed.values, theirs.values),
      languages: mergeLanguages(base.languages, typed.languages, theirs.languages),
      draft,
      etag,
      base: theirs,
      isMerged: true,
    });
  }

  /**
   * Stores the draft, also if something is missing.
   * @returns the stored content. @throws ApiFailure 412 if it was changed meanwhile.
   */
  async function save(ctx: Context, { entry }: FoundElement, { languages, values, draft, etag }: Typed) {
    const before = await readContent(ctx, kit, { entry });
    if (draft !== before.draft) throw new ApiFailure(412, { type: '/docs/problems/precondition-failed' });
    const body = mergeContent(before.content, contentFields[entry.type], languages, values) as never;
    const query = { incomplete: 'true' } as never;
    const params = { id: entry.id, vid: draft };
    const stored = draft
      ? await kit.api(ctx).call('updateVersion', { params, query, body, ifMatch: etag })
      : await kit.api(ctx).call('createVersion', { params: { id: entry.id }, query, body });
    return stored.body.data as Content['data'];
  }

  async function show(ctx: Context, { entry, href }: Pick<FoundElement, 'entry' | 'href'>, typed: Typed) {
    if (!kit.may(ctx, 'createVersion')) throw new ApiFailure(403, {});
    const reader = kit.reader(ctx);
    const fields = contentFields[entry.type];
    const { languages, values, failure } = typed;
    const groups = [...languages, '*'].map((language) => ({
      language,
      names: fields
        .filter(({ isText = false }) => isText === (language !== '*'))
        .map(({ path }) => inputName(language, path)),
    }));
    const form = kit.form(ctx, {
      action: `${href}/edit`,
      submit: reader.t('elements.saveDraft'),
      cancelUrl: href,
      fields: fieldsOf(reader, entry.type, languages),
      values,
      failure,
      hidden: { draft: typed.draft, etag: typed.etag, base: JSON.stringify(typed.base) },
    });
    await kit.page(
      ctx,
      'edit',
      {
        title: reader.t('elements.editTitle', { name: entry.name }),
        form,
        languages,
        mayActivate: kit.may(ctx, 'setVersionStatus'),
        isMerged: typed.isMerged ?? false,
        hasRich: fields.some(({ kind }) => kind === 'rich'),
        richRules: JSON.stringify(richTextRules),
        removed: (typed.removed ?? []).map(({ name, tags }) => ({
          label: placeName(reader, form.byName[name]?.label ?? name, name),
          tags,
        })),
        conflicts: (typed.conflicts ?? []).map(({ name, theirs }) => ({
          name: `theirs:${name}`,
          values: theirs,
          label: placeName(reader, form.byName[name]?.label ?? name, name),
          text: theirs.map((each) => wordOf(form.byName[name], each)).join(', '),
          op: `take:${name}`,
        })),
        columns: groups.slice(0, -1).map(({ language, names }) => ({
          language,
          name: reader.languageName(language),
          fields: names.map((name) => form.byName[name]),
          removeOp: languages.length > 1 ? `remove:${language}` : '',
          preview: reader.t('elements.previewIn', { language: reader.languageName(language) }),
        })),
        previewUrl: `${href}/edit/preview`,
        frameUrl:
          typed.draft && withQuery(`${href}/versions/${typed.draft}/page`, { language: languages[0] ?? '' }),
        common: (groups.at(-1)?.names ?? []).map((name) => form.byName[name]),
      },
      failure?.status,
    );
  }
}

interface Typed {
  languages: readonly string[];
  values: PostedForm;
  /** Id of the draft that is edited; empty if it is the first. */
  draft: string;
  etag: string;
  /** What the editor was opened with: what differs from it was typed. */
  base: { languages: readonly string[]; values: PostedForm };
  /** Where another person has saved something else; what was typed is in `values`. */
  conflicts?: readonly Conflict[];
  /** What the API has just taken away from the texts. */
  removed?: readonly RemovedMarkup[];
  /** Whether changes of another person were just put in. */
  isMerged?: boolean;
  failure?: ApiFailure;
}

/** The hidden field of what the editor was opened with; nothing in a form that is not ours. */
function readBase(text: string | undefined): Typed['base'] {
  try {
    const { languages, values } = JSON.parse(text ?? '') as Typed['base'];
    if (Array.isArray(languages) && typeof values === 'object' && values !== null)
      return { languages, values };
  } catch {
    // Without it every difference is a conflict, so nothing is lost.
  }
  return { languages: [], values: {} };
}

/** Conflicts that a page has shown, from its hidden fields. */
function conflictsIn(posted: PostedForm): Conflict[] {
  return Object.entries(posted).flatMap(([name, theirs]) =>
    name.startsWith('theirs:') ? { name: name.slice('theirs:'.length), theirs } : [],
  );
}

/** The label of an input, with its language. */
function placeName({ languageName }: ConsoleReader, label: string, name: string): string {
  const [language = ''] = name.split(':', 1);
  return language === '*' ? label : `${label} (${languageName(language)})`;
}

function wordOf(field: FieldView | undefined, value: string): string {
  return field?.options.find((option) => option.value === value)?.label ?? value;
}

const languageTag = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** The draft's content, else a copy of the active one, else nothing in the instance's language. */
async function readContent(ctx: Context, kit: RoomKit, { entry }: Pick<FoundElement, 'entry'>) {
  const draft = await findVersion(ctx, kit, entry, 'DRAFT');
  const start = draft ?? (await findVersion(ctx, kit, entry, 'ACTIVE'));
  if (start) {
    const { defaultLanguage, data } = start.version;
    const content = { defaultLanguage, data: data as Content['data'] };
    return { content, draft: draft?.version.id ?? '', etag: draft?.etag ?? '' };
  }
  const { body } = await kit.api(ctx).call('getSystemConfig');
  const content: Content = { defaultLanguage: body.language, data: { [body.language]: {} } };
  return { content, draft: '', etag: '' };
}

function valuesOf(type: ElementType, { defaultLanguage, data }: Content): PostedForm {
  const values: Record<string, string[]> = {};
  for (const field of contentFields[type])
    for (const language of field.isText ? Object.keys(data) : ['*'])
      values[inputName(language, field.path)] = shownValues(
        data[language === '*' ? defaultLanguage : language],
        field,
      );
  return values;
}
