import type Router from '@koa/router';
import type { Context } from 'koa';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { withQuery } from '../../pages/filters.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type Conflict, type Edited, isSameEdit, mergeEdits } from '../../pages/merge.ts';
import {
  baseOf,
  conflictsIn,
  isOvertaken,
  labelIn,
  mergedView,
  overtaken,
  takeTheirs,
} from '../../pages/merge-form.ts';
import { contentFields, type ElementType } from './content-fields.ts';
import { type Content, inputName, mergeContent, shownValues } from './content-values.ts';
import { fieldsOf } from './editor-fields.ts';
import { type FoundElement, findElement, findVersion } from './read-element.ts';
import { type RemovedMarkup, removedMarkup } from './removed-markup.ts';

/** The content of an element: its languages side by side, and below what means the same in all. */
export function editorRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key/edit', (ctx) => showStored(ctx));

  /** Shows what is stored. @param removed what the API took away from the texts when it stored them. */
  async function showStored(ctx: Context, removed: readonly RemovedMarkup[] = []) {
    const element = await findElement(ctx, kit);
    const kept = kit.kept(ctx);
    if (kept) return show(ctx, element, typedIn(kept));
    const { content, draft, etag } = await readContent(ctx, kit, element);
    const base = editedOf(element.entry.type, content);
    await show(ctx, element, { ...base, draft, etag, base, conflicts: [], removed });
  }

  router.post('/:key/edit', async (ctx) => {
    const element = await findElement(ctx, kit);
    const posted = kit.posted(ctx);
    const { op = ['save'], language = [''] } = posted;
    const typed = typedIn(posted);
    const { languages } = typed;
    // A change of the form's shape shows what was typed again and saves nothing.
    if (op[0] === 'add-language') {
      const added = language[0]?.trim() ?? '';
      const isNew = languageTag.test(added) && !languages.includes(added);
      return show(ctx, element, {
        ...typed,
        ...(isNew && { languages: [...languages, added], language: '' }),
      });
    }
    const taken = takeTheirs(posted, op[0] ?? '');
    if (taken) return show(ctx, element, { ...typed, ...taken });
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
      await (isOvertaken(error)
        ? showMerged(ctx, element, typed)
        : show(ctx, element, { ...typed, failure: error }));
    }
  });

  /** Another person has saved: shows both people's changes, and asks where they differ. Saves nothing. */
  async function showMerged(ctx: Context, element: FoundElement, typed: Typed) {
    const { content, draft, etag } = await readContent(ctx, kit, element);
    const theirs = editedOf(element.entry.type, content);
    const merged = mergeEdits({ base: typed.base, mine: typed, theirs }, { languageOf });
    await show(ctx, element, { ...typed, ...merged, draft, etag, base: theirs, isMerged: true });
  }

  /**
   * Stores the draft, also if something is missing.
   * @returns the stored content. @throws ApiFailure 412 if it was changed meanwhile.
   */
  async function save(ctx: Context, { entry }: FoundElement, typed: Typed) {
    const { languages, values, draft, etag } = typed;
    const before = await readContent(ctx, kit, { entry });
    // Without a draft there is no ETag: the content with which the editor was opened is compared.
    const isStale = draft === '' && !isSameEdit(typed.base, editedOf(entry.type, before.content));
    if (isStale || draft !== before.draft) throw overtaken();
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
        guard: typed.isChanged ? 'changed' : 'new',
        typedLanguage: typed.language ?? '',
        merge: mergedView(reader, form, { ...typed, languageOf }),
        hasRich: fields.some(({ kind }) => kind === 'rich'),
        richRules: JSON.stringify(richTextRules),
        removed: (typed.removed ?? []).map(({ name, tags }) => ({
          label: labelIn(reader, form.byName[name]?.label ?? name, languageOf(name)),
          tags,
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
      typed.isMerged ? 412 : failure?.status,
    );
  }
}

/** What the editor shows. */
interface Typed extends Edited {
  /** Id of the draft that is edited; empty if it is the first. */
  draft: string;
  etag: string;
  /** What the editor was opened with: what differs from it was typed. */
  base: Edited;
  /** What stands in the field for another language. */
  language?: string;
  /** Whether the editor shows what is not saved. */
  isChanged?: boolean;
  /** Where another person has saved something else; what was typed is in `values`. */
  conflicts: readonly Conflict[];
  keptLanguages?: readonly string[];
  /** What the API has just taken away from the texts. */
  removed?: readonly RemovedMarkup[];
  /** Whether changes of another person were just put in. */
  isMerged?: boolean;
  failure?: ApiFailure;
}

/** The editor as it was sent. */
function typedIn(posted: PostedForm): Typed {
  return {
    languages: posted.languages ?? [],
    values: posted,
    draft: posted.draft?.[0] ?? '',
    etag: posted.etag?.[0] ?? '',
    base: baseOf(posted),
    language: posted.language?.[0] ?? '',
    isChanged: true,
    conflicts: conflictsIn(posted),
  };
}

/** The language of an input; `*` of those that mean the same in all. */
function languageOf(name: string): string | undefined {
  const [language] = name.split(':', 1);
  return language === '*' ? undefined : language;
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

/** The languages and inputs of stored content. The main language is written first, and translated. */
function editedOf(type: ElementType, { defaultLanguage, data }: Content): Edited {
  const languages = [defaultLanguage, ...Object.keys(data).filter((each) => each !== defaultLanguage)];
  const values: Record<string, string[]> = {};
  for (const field of contentFields[type])
    for (const language of field.isText ? languages : ['*'])
      values[inputName(language, field.path)] = shownValues(
        data[language === '*' ? defaultLanguage : language],
        field,
      );
  return { languages, values };
}
